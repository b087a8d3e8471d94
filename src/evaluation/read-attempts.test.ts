import { expect, test } from 'vitest';
import { stepFinished } from '../../test/fixtures/store/examples.ts';
import {
  BranchId,
  type EventPayload,
  ObjectId,
  type SearchNode,
  searchNodeEntry,
  TraceEvent,
} from '../schema/index.ts';
import { AttemptReader } from './read-attempts.ts';

const plain: SearchNode = {
  ...{
    id: 0,
    parent: null,
    other: null,
    operator: 'tune',
    branch: null,
    status: 'kept',
    change: 'lr: 1 → 2',
  },
  ...{ why: 'a gain of 1', score: 0.5, seconds: 2, cost: 0.1, is_best: false },
};

test('of several notes on an attempt the last one counts, with the step after which it was first over', () => {
  const attempts = read(
    node({ is_best: true }),
    step(3),
    node({ id: 1, parent: 0, score: 0.6, is_best: true }),
    step(4),
    node({ id: 2, parent: 1, status: 'failed', score: null }),
    step(9),
    // On fresh seeds the first one was as good.
    node({ is_best: true }),
  );
  expect(attempts).toMatchObject([
    { id: 0, step: 0, is_final: true },
    { id: 1, parent: 0, score: 0.6, step: 3, is_final: false },
    { id: 2, status: 'failed', step: 4, is_final: false },
  ]);
});

test('an attempt that was begun and ended on a branch of its own has no step of the timeline', () => {
  const attempts = read(
    node({ branch: 'b1', status: 'pending', score: null }),
    step(2, 'b1'),
    node({ branch: 'b1', score: 0.7 }),
  );
  expect(attempts).toMatchObject([{ status: 'kept', score: 0.7, step: null }]);
});

test('an attempt whose branch was only forked has the step that it was forked from', () => {
  expect(read(step(3), node({ branch: 'b1' }))).toMatchObject([{ step: 3 }]);
});

test('what an agent writes under the same name and is no attempt is ignored', () => {
  const other = (text: string) => read(note(text));
  expect(other('{')).toEqual([]);
  expect(other('{"id": 1}')).toEqual([]);
  expect(other(JSON.stringify({ ...plain, score: 'high' }))).toEqual([]);
});

function note(text: string): EventPayload {
  return { kind: 'note', entries: { [searchNodeEntry]: { text }, Decision: { text: 'go on' } } };
}

function node(changes: Partial<SearchNode>): EventPayload {
  return note(JSON.stringify({ ...plain, ...changes }));
}

function step(number: number, branch = 'main'): EventPayload {
  const payload = stepFinished(number, ObjectId.parse('a'.repeat(64)));
  return payload.kind === 'step_finished' ? { ...payload, branch: BranchId.parse(branch) } : payload;
}

function read(...payloads: EventPayload[]) {
  const reader = new AttemptReader((ref) => ('text' in ref ? ref.text : ''));
  for (const [seq, payload] of payloads.entries())
    reader.read(TraceEvent.parse({ v: 1, seq, time: seq, prev: '0'.repeat(64), ...payload }), true);
  return reader.attempts;
}
