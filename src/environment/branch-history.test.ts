import { expect, test } from 'vitest';
import { BranchId, ObjectId } from '../schema/index.ts';
import { BranchHistories } from './branch-history.ts';
import { recordedRun } from './recorded-run.ts';

const snapshot = (letter: string) => ObjectId.parse(letter.repeat(64));

test('a branch at the end of ten thousand forks has the history of all before it', () => {
  const histories = new BranchHistories({ ...recordedRun([], () => ''), start: snapshot('0') });
  let from = BranchId.parse('main');
  for (let fork = 1; fork <= 10_000; fork += 1) {
    const id = BranchId.parse(`b${fork}`);
    histories.fork(id, { branch: from, step: fork > 5_000 ? 1 : 0 });
    from = id;
  }
  const submission = { present: false, hash: null, written_at_step: null, stale: false };
  const facts = { action: 'Read File', submission, undo: [], undone: [] };
  histories.of(BranchId.parse('b5000')).add({ step: 1, snapshot: snapshot('1'), ...facts });
  const last = histories.of(from);
  expect(last.steps().map(({ step }) => step)).toEqual([1]);
  expect([last.snapshotAt(), last.snapshotAt(0)]).toEqual([snapshot('1'), snapshot('0')]);
});
