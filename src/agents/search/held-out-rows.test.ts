import { expect, test } from 'vitest';
import { FakeEnvironment } from '../../api/testing.ts';
import type { BranchView } from './branch-view.ts';
import { type Gain, HeldOutRows, type RowHolder } from './held-out-rows.ts';
import { type Attempt, SearchTree } from './search-tree.ts';

/** Versions whose answers are numbers, and whose gain is the difference of these; each has an error of 1. */
async function rowsWith(qualities: number[], holder: Partial<RowHolder> = {}) {
  const tree = new SearchTree(new FakeEnvironment());
  const attempts = qualities.map(() => tree.begin('draft', null, { why: '' }));
  const runs: number[] = [];
  const average = (members: readonly string[]) =>
    members.reduce((sum, each) => sum + Number(each), members.length) / members.length;
  const made: RowHolder = {
    measure: async (view, { part, other, members }) => {
      const own = Number(view.id);
      if (members === undefined) runs.push(part);
      const answers = members === undefined ? (qualities[own] ?? Number.NaN) : average(members);
      if (Number.isNaN(answers)) return { problem: 'it failed' };
      const gain: Gain | null = other === '' ? null : { gain: answers - Number(other), error: 1 };
      return { answers: String(answers), gain };
    },
    submission: async (view) => view.id,
    average: async () => true,
    ...holder,
  };
  const viewOf = (attempt: Attempt) => ({ id: String(attempt.id) }) as unknown as BranchView;
  const [first] = attempts;
  if (first === undefined) throw new Error('there must be a first version');
  const rows = await HeldOutRows.prepare(
    async () => made,
    first,
    (of, use) => use(viewOf(of)),
  );
  return { rows, attempts, runs };
}

/** The rows of `rowsWith`, if they can be withheld. */
async function heldOut(qualities: number[], holder: Partial<RowHolder> = {}) {
  const { rows, attempts, runs } = await rowsWith(qualities, holder);
  if ('problem' in rows) throw new Error(rows.problem);
  const [first, second] = attempts;
  if (first === undefined || second === undefined) throw new Error('there must be two versions');
  return { rows, first, second, others: attempts.slice(2), runs };
}

test.each([
  { claimed: 5, measured: 4, counts: 5, why: 'the rows agree with the claim' },
  { claimed: 1, measured: -0.5, counts: 1, why: 'the rows do not contradict a small claim' },
  { claimed: 1, measured: 6, counts: 1, why: 'the claims of later versions are compared with its own' },
  { claimed: 9, measured: 4, counts: 4, why: 'it is better, although it claims too much' },
  { claimed: 9, measured: 0.5, counts: 0, why: 'what is left of its claim may be chance' },
  { claimed: 9, measured: -3, counts: -3, why: 'it is worse' },
])('of a version that claims $claimed and gains $measured, $counts counts: $why', async (each) => {
  const { rows, first, second } = await heldOut([10, 10 + each.measured]);
  expect(await rows.check(second, first, each.claimed)).toMatchObject({ gain: each.counts });
});

test('a version that cannot be measured says why', async () => {
  const { rows, first, second } = await heldOut([10, Number.NaN]);
  expect(await rows.check(second, first, 3)).toEqual({ problem: 'it failed' });
});

test('rows cannot be withheld if the first version does not run on the others', async () => {
  expect((await rowsWith([Number.NaN, 1])).rows).toEqual({ problem: 'it failed' });
});

test('at the end, other rows than before decide, as many parts of them as there is time for', async () => {
  const { rows, first, second, runs } = await heldOut([10, 14]);
  expect(await rows.atEnd(second, first, () => true)).toEqual({
    ...{ gain: { gain: 4, error: Math.SQRT1_2 }, said: '+4 ± 1 and +4 ± 1' },
  });
  expect(runs).toEqual([0, 1, 1, 2, 2]);
  let times = 0;
  expect(await rows.atEnd(second, first, () => times++ < 1)).toEqual({
    ...{ gain: { gain: 4, error: 1 }, said: '+4 ± 1' },
  });
  expect(await rows.atEnd(second, first, () => false)).toBeNull();
});

test('versions are averaged if their mean is better than the best one by more than chance', async () => {
  const good = await heldOut([10, 14, 16, 13]);
  await good.rows.atEnd(good.second, good.first, () => true);
  const found = await good.rows.partners(good.second, good.others, () => true);
  // The mean of 14 and 16 is one more than their average here: 16, two more than 14 alone.
  expect(found).toEqual({ members: [good.others[0]], gain: { gain: 2, error: 1 } });
  expect(await good.rows.average(good.second, found?.members ?? [])).toMatchObject({ id: '1' });

  const poor = await heldOut([10, 14, 9, Number.NaN]);
  await poor.rows.atEnd(poor.second, poor.first, () => true);
  expect(await poor.rows.partners(poor.second, poor.others, () => true)).toBeNull();
});

test.each([
  ['is too long to be passed on', { submission: async () => null }],
  ['is not accepted', { average: async () => false }],
])('nothing is averaged if a submission %s', async (_, holder) => {
  const { rows, second, others } = await heldOut([10, 14, 16], holder);
  expect(await rows.average(second, others)).toBeNull();
});
