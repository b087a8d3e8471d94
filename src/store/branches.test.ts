import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { b1, b2, makeBranchedRun } from '../../test/fixtures/store/branched-run.ts';
import { examplePlan } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { BranchId, type BranchOrigin } from '../schema/index.ts';
import { branchesOf, historyOf, lineageOf } from './branches.ts';
import { checkRun } from './check-run.ts';
import { createExperiment } from './experiment.ts';
import { forkRun } from './fork.ts';
import { currentGrades, recordedStates, statesOfTree } from './recorded-states.ts';
import { restoreSnapshot } from './restore.ts';
import { snapshotsByStep, spentOf, stepsOf } from './steps.ts';
import { readTraceSync } from './trace-reader.ts';

test('branches are read with their origins, their steps and the selected one', async () => {
  using folder = temporaryFolder();
  const { run } = await makeBranchedRun(folder.path);
  const reader = branchesOf(readTraceSync(run.tracePath).events);
  expect(reader.selected).toBe(b1);
  expect(reader.branches).toEqual([
    { id: 'main', origin: null, lastStep: 3, steps: 3 },
    { id: b1, origin: { branch: 'main', step: 1 }, lastStep: 3, steps: 2 },
    { id: b2, origin: { branch: b1, step: 2 }, lastStep: 3, steps: 1 },
  ]);
  expect(await checkRun(run)).toEqual([]);
});

test.each(['main', b1, b2] as const)(
  'the history of %s is its own steps after those of its origins',
  async (id) => {
    using folder = temporaryFolder();
    const { run, snapshots } = await makeBranchedRun(folder.path);
    const { main, b1: first, b2: second } = snapshots;
    const expected = {
      main,
      b1: [main[0], main[1], ...first],
      b2: [main[0], main[1], first[0], second[0]],
    };
    const history = historyOf(readTraceSync(run.tracePath).events, id);
    expect(stepsOf(history).map(({ step }) => step)).toEqual([1, 2, 3]);
    expect([...snapshotsByStep(history).values()]).toEqual(expected[id as keyof typeof expected]);
  },
);

test('grades and states are those of the selected branch, resource use is that of the whole run', async () => {
  using folder = temporaryFolder();
  const { run, snapshots } = await makeBranchedRun(folder.path);
  const states = recordedStates(run);
  expect(states.map(({ step, snapshot, final }) => [step, snapshot, final])).toEqual([
    [0, snapshots.main[0], false],
    [1, snapshots.main[1], false],
    [2, snapshots.b1[0], false],
    [3, snapshots.b1[1], true],
  ]);
  expect(currentGrades(run.readGrades().grades, states).map(({ score, final }) => [score, final])).toEqual([
    [0.9, true],
  ]);
  const tree = statesOfTree(run);
  expect(tree.map(({ branch, step, final }) => [branch, step, final])).toEqual([
    ...[
      ['main', 0, false],
      ['main', 1, false],
      [b1, 2, false],
      [b1, 3, true],
    ],
    ...[
      ['main', 2, false],
      [b2, 3, false],
      ['main', 3, false],
    ],
  ]);
  // These grades are from before grades named their branch.
  expect(
    currentGrades(run.readGrades().grades, tree).map(({ branch, step, score }) => [branch, step, score]),
  ).toEqual([
    [b1, 3, 0.9],
    [undefined, 3, 0.5],
  ]);
  const { events } = readTraceSync(run.tracePath);
  expect(spentOf(events).calls).toBe(1);
  expect(stepsOf(events)).toHaveLength(6);
});

test('a run that is forked from a step of the selected branch has everything recorded until then', async () => {
  using folder = temporaryFolder();
  const { run, snapshots } = await makeBranchedRun(folder.path);
  const plan = examplePlan();
  const target = createExperiment(join(folder.path, 'fork'), plan).runFolder('digits-baseline-0');
  using _lock = target.lock();
  await forkRun(run, { experiment: plan.name, run: run.id, step: 2 }, target);
  const { events } = readTraceSync(target.tracePath);
  const own = historyOf(events, b1);
  expect([...snapshotsByStep(own).values()]).toEqual([snapshots.main[0], snapshots.main[1], snapshots.b1[0]]);
  const place = join(folder.path, 'restored');
  const [snapshot] = snapshots.b1;
  if (snapshot === undefined) throw new Error('b1 has a snapshot');
  await restoreSnapshot(target.objects, snapshot, place);
  expect(readFileSync(join(place, 'train.py'), 'utf8')).toBe('b1 2');
});

test('a lineage ends, and never counts a step twice, whatever origins a broken trace names', () => {
  const id = fc.nat(5).map((number) => BranchId.parse(number === 0 ? 'main' : `b${number}`));
  const origin = fc.option(fc.record({ branch: id, step: fc.nat(9) }));
  fc.assert(
    fc.property(fc.array(fc.tuple(id, origin)), id, (pairs, wanted) => {
      const origins = new Map<BranchId, BranchOrigin | null>(pairs);
      const lineage = [...lineageOf(wanted, (branch) => origins.get(branch) ?? null)];
      expect(lineage[0]?.[0]).toBe(wanted);
      const lasts = lineage.map(([, last]) => last);
      expect(lasts).toEqual(lasts.toSorted((one, other) => other - one));
    }),
  );
});
