import { describe, expect, test } from 'vitest';
import {
  modelCall,
  replacedStep,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../test/fixtures/store/examples.ts';
import { type EventPayload, type ObjectId, TraceEvent } from '../schema/index.ts';
import { sessionsOf, stepsOf } from './steps.ts';

const snapshot = 'a'.repeat(64) as ObjectId;

const eventsOf = (payloads: readonly EventPayload[]) =>
  payloads.map((payload, seq) =>
    TraceEvent.parse({ v: 1, seq, time: seq, prev: '0'.repeat(64), ...payload }),
  );

function secondsOf(...payloads: EventPayload[]): number {
  return sessionsOf(eventsOf(payloads)).secondsUsed;
}

test('a resumed run has used the time of its replayed answers', () => {
  const { seconds_used } = stepFinished(1, snapshot).budget;
  const step = [sessionStarted(snapshot), stepStarted(1), stepFinished(1, snapshot)];
  const answered = modelCall(1, { latency_ms: 2500 });
  expect(secondsOf(...step)).toBe(seconds_used);
  expect(secondsOf(...step, answered)).toBe(seconds_used + 2.5);
  expect(secondsOf(sessionStarted(snapshot), answered, stepStarted(1), stepFinished(1, snapshot))).toBe(
    seconds_used,
  );
  const cut = modelCall(2, { latency_ms: 9000, answer: null, failure: { failure: 'cut_off', message: '' } });
  expect(secondsOf(...step, cut, { ...answered, step: 2 })).toBe(seconds_used);
});

test('a run has used the time until its last call, also if that was not answered', () => {
  const failure = { failure: 'overloaded' as const, message: '' };
  const unanswered = modelCall(1, { answer: null, failure, seconds_used: 7.1 });
  expect(secondsOf(sessionStarted(snapshot), unanswered)).toBe(7.1);
});

describe('a step performed', () => {
  const instead = { name: 'Read File', args: { file_name: 'a.txt' } };
  const replaced = replacedStep(1, instead);
  const performedIn = (payloads: readonly EventPayload[]) =>
    stepsOf(eventsOf([sessionStarted(snapshot), ...payloads])).map(({ performed, proposed }) => [
      performed.action,
      proposed?.action ?? null,
    ]);
  const end = stepFinished(1, snapshot);

  test('the replacement of what the agent proposed, also if it was interrupted and repeated', () => {
    const expected = [
      ['Read File', 'Execute Script'],
      ['Execute Script', null],
    ];
    const next = [stepStarted(2), stepFinished(2, snapshot)];
    expect(performedIn([...replaced, end, ...next])).toEqual(expected);
    const again = [sessionStarted(snapshot, 2), stepStarted(1)];
    expect(performedIn([...replaced, ...again, end, ...next])).toEqual(expected);
  });

  test('what the agent wrote, if a later decision or a person acting in its place made a replacement void', () => {
    const allowed: EventPayload = { kind: 'action_decided', step: 1, verdict: 'allow', actor: 'Ada' };
    expect(performedIn([...replaced, allowed, stepStarted(1), end])).toEqual([['Execute Script', null]]);
    expect(performedIn([...replaced, { ...stepStarted(1), actor: 'Ada' }, end])).toEqual([
      ['Execute Script', null],
    ]);
  });

  test('what a program did, if only its request for a permission was answered by another action', () => {
    const [, decided] = replaced;
    const asked: EventPayload = { kind: 'action_proposed', step: 1, action: 'bash', args: { text: '{}' } };
    if (decided === undefined) throw new Error('there is a decision');
    expect(performedIn([asked, decided, stepStarted(1), end])).toEqual([['Execute Script', null]]);
  });
});
