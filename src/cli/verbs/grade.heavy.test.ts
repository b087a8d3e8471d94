import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fixtureTasks, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { mlab } from '../../../test/fixtures/mlab-process.ts';
import { testInSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import { exampleSpec } from '../../../test/fixtures/store/examples.ts';
import { WrittenRun } from '../../../test/fixtures/store/recorded-run.ts';
import { ExperimentName, type Plan, RunId, TaskId } from '../../schema/index.ts';
import { createExperiment, openExperiment } from '../../store/index.ts';
import { createContext } from '../context.ts';
import { grade } from './grade.ts';
import { verify } from './verify.ts';

const bench = new TaskBench();
afterAll(() => bench[Symbol.dispose]());

/**
 * An experiment with runs of three tasks: one whose data can't be obtained, one that does not exist, and one that
 * works.
 */
async function makeExperiment(tasks: string): Promise<WrittenRun[]> {
  const runs = ['lost', 'lost', 'unknown', 'sums', 'sums', 'sums'].map((task, seed) => ({
    ...exampleSpec(),
    ...{ id: RunId.parse(`${task}-noop-${seed}`), task: TaskId.parse(task), seed, sandbox: 'none' as const },
  }));
  const plan: Plan = {
    ...{
      v: 1,
      name: ExperimentName.parse('mixed'),
      created: 0,
      mlab: '0',
      parallel: 1,
      grade: 'final',
      runs,
    },
  };
  const experiment = createExperiment(join(bench.experiments, tasks, 'mixed'), plan);
  const written = runs.map((spec) => new WrittenRun(experiment.runFolder(spec.id), spec));
  for (const run of written.slice(0, 4)) await run.session(2, 'final_answer');
  await written[4]?.session(2);
  return written;
}

function contextOf(tasks: string) {
  const place = { dir: join(bench.experiments, tasks), taskDir: [join(bench.folder, tasks)] };
  const variables = { ...process.env, MLAB_CACHE: bench.cache };
  const context = createContext(place, variables, 'test', new AbortController().signal);
  return { ...context, log: () => {} };
}

const grading = { steps: 'final', trust: true };

function copyTasks(name: string): void {
  bench.copyTask(name, {});
  const text = readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8').replace('id: sums', 'id: lost');
  const lost = join(bench.folder, name, 'lost');
  cpSync(join(fixtureTasks, 'sums'), lost, { recursive: true });
  writeFileSync(join(lost, 'task.yaml'), text);
  writeFileSync(join(lost, 'hidden/prepare.py'), 'raise SystemExit("the source is gone")\n');
}

test('a task whose data cannot be obtained does not affect the runs of other tasks', async () => {
  copyTasks('tasks');
  const written = await makeExperiment('tasks');
  const failures = [
    { runs: ['lost-noop-0', 'lost-noop-1'], message: expect.stringContaining('the source is gone') },
    { runs: ['unknown-noop-2'], message: expect.stringContaining('unknown') },
  ];
  const context = contextOf('tasks');
  const { text, json, exitCode } = await grade.run(context, ['mixed'], grading);
  expect(exitCode).toBe(1);
  expect(json).toMatchObject({
    grades: [{ run: 'sums-noop-3', grade: { step: 2, final: true, valid: false } }],
    unfinished: ['sums-noop-4', 'sums-noop-5'],
    failures,
  });
  expect(text).toMatch(/^Not graded: lost-noop-0, lost-noop-1\.\n {2}.*\n?[\s\S]*the source is gone/m);
  expect(text.match(/the source is gone/g)).toHaveLength(1);
  expect(text).toMatch(/sums-noop-4, sums-noop-5 have not ended/);
  await expect(grade.run(context, ['mixed/lost-noop-0'], grading)).rejects.toThrow('the source is gone');
  expect(written.map(({ folder }) => folder.readGrades().grades.length)).toEqual([0, 0, 0, 1, 0, 0]);

  expect(await verify.run(context, ['mixed'], { trust: true })).toMatchObject({
    json: { runs: [{ run: 'sums-noop-3', verification: { verdict: 'nothing_to_verify' } }], failures },
    exitCode: 1,
  });

  // Grading this task executes nothing that the agent wrote; verifying does.
  expect(await grade.run(context, ['mixed/sums-noop-3'], { steps: 'all' })).toMatchObject({ exitCode: 0 });
  await expect(verify.run(context, ['mixed/sums-noop-3'], {})).rejects.toThrow(
    'The run sums-noop-3 had no sandbox',
  );
});

testInSandbox(
  'several processes that grade the same run at once write one complete line for each step',
  async () => {
    const place = { folder: bench.folder, variables: { MLAB_CACHE: bench.cache } };
    const run = (...argv: string[]) => mlab(['--task-dir', fixtureTasks, ...argv], place);
    await run('run', '--task', 'sums', '--agent', 'oracle', '--name', 'once', '--grade', 'none');
    const argv = ['grade', 'once', '--steps', 'all'];
    const ends = await Promise.all([1, 2, 3].map(() => run(...argv)));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    const folder = openExperiment(join(bench.experiments, 'once')).runFolder('sums-oracle-0');
    const { grades, problems } = folder.readGrades();
    expect(problems).toEqual([]);
    const steps = grades.map(({ step }) => step);
    expect(steps).toEqual([...new Set(steps)]);
    expect(steps.length).toBe((folder.readRecord()?.steps ?? 0) + 1);
  },
  60_000,
);
