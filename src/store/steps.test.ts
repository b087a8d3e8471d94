import { expect, test } from 'vitest';
import { modelCall, sessionStarted, stepFinished, stepStarted } from '../../test/fixtures/store/examples.ts';
import { type EventPayload, type ObjectId, TraceEvent } from '../schema/index.ts';
import { sessionsOf } from './steps.ts';

const snapshot = 'a'.repeat(64) as ObjectId;

function secondsOf(...payloads: EventPayload[]): number {
  const events = payloads.map((payload, seq) =>
    TraceEvent.parse({ v: 1, seq, time: seq, prev: '0'.repeat(64), ...payload }),
  );
  return sessionsOf(events).secondsUsed;
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
