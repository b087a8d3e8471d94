import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TaskBench } from '../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../test/fixtures/needs-sandbox.ts';
import { planOf, workThrough } from '../../test/fixtures/run-place.ts';
import { agentByName } from '../agents/index.ts';
import { gradeRun } from '../grading/index.ts';
import { ExperimentFile } from '../schema/index.ts';
import { createExperiment, type Experiment } from '../store/index.ts';
import { makePlan, type TaskResources } from './index.ts';

const bench = new TaskBench();
let resources: TaskResources;
let places = 0;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

function newExperiment(changes: Record<string, unknown> = {}): Experiment {
  places += 1;
  const plan = planOf(resources, agentByName('baseline'), { seeds: 2, ...changes });
  return createExperiment(join(bench.experiments, String(places)), plan);
}

describeInSandbox('an experiment', () => {
  test('every run is executed and graded, and executing it again leaves all of them unchanged', async () => {
    const experiment = newExperiment();
    const first = await workThrough(experiment, resources);
    expect(first.map(({ record, problem }) => [record?.status, problem])).toEqual([
      ['finished', null],
      ['finished', null],
    ]);
    const runs = experiment.runIds.map((id) => experiment.runFolder(id));
    expect(runs.map((run) => run.readGrades().grades.map(({ score }) => score))).toEqual([[4.5], [4.5]]);
    const records = runs.map((run) => run.readRecord());
    await workThrough(experiment, resources);
    expect(runs.map((run) => run.readRecord())).toEqual(records);
    expect(runs.map((run) => run.readGrades().grades.length)).toEqual([1, 1]);
  });

  test('a problem with one run is its own result and never stops the others', async () => {
    const experiment = newExperiment();
    const [first, second] = experiment.runIds;
    const blocked = experiment.runFolder(String(first));
    using _lock = blocked.lock();
    const results = await workThrough(experiment, resources);
    expect(results.map(({ problem }) => problem !== null)).toEqual([true, false]);
    expect(results[0]?.problem).toContain(`process ${process.pid}`);
    expect(experiment.runFolder(String(second)).readRecord()?.status).toBe('finished');
  });

  test('incomplete runs are left alone, resumed or started over, as requested', async () => {
    const experiment = newExperiment({ seeds: 1 });
    const folder = experiment.runFolder(String(experiment.runIds[0]));
    const withoutSandbox = { ...resources, python: { ...resources.python, environment: '/no/such/venv' } };
    const broken = await workThrough(experiment, withoutSandbox);
    expect(broken[0]?.record).toMatchObject({ status: 'failed', end: { reason: 'infrastructure_error' } });
    expect(broken[0]?.problem).toContain("The sandbox can't start");

    const kept = await workThrough(experiment, resources, 'keep');
    expect(kept[0]?.record?.status).toBe('failed');
    const restarted = await workThrough(experiment, resources, 'restart');
    expect(restarted[0]).toMatchObject({ problem: null, record: { status: 'finished', steps: 2 } });
    const discarded = join(experiment.folder, 'runs/.discarded');
    expect(readdirSync(discarded)).toEqual([`${folder.id}.1`]);
    expect(existsSync(join(discarded, `${folder.id}.1/trace.jsonl`))).toBe(true);

    const other = newExperiment({ seeds: 1 });
    await workThrough(other, withoutSandbox);
    const gone = await workThrough(other, resources, 'continue');
    expect(gone[0]).toMatchObject({ problem: null, record: { status: 'finished' } });
  });

  test('after an error in grading the run is kept, and can be graded later', async () => {
    const broken = await bench.provision(
      bench.copyTask('broken-grader', { 'hidden/grade.py': 'raise SystemExit("the grader is broken")\n' }),
    );
    // The same version: a grader may also break because of the machine.
    const same = ({ task, ...rest }: TaskResources) => ({ ...rest, task: { ...task, version: 'same' } });
    const plan = planOf(same(resources), agentByName('baseline'), { seeds: 1 });
    const experiment = createExperiment(join(bench.experiments, 'broken-grader'), plan);
    const [result] = await workThrough(experiment, same(broken));
    expect(result?.record).toMatchObject({ status: 'finished', end: { reason: 'final_answer' } });
    expect(result?.problem).toMatch(/^not graded: [\s\S]*exit code 1[\s\S]*the grader is broken/);
    const [again] = await workThrough(experiment, same(resources));
    expect(again?.problem).toBeNull();
    expect(experiment.runFolder(String(result?.spec.id)).readGrades().grades).toMatchObject([
      { score: 4.5, final: true },
    ]);
  });

  test('a task that has changed since the plan was made is refused, by the plan and by every run', async () => {
    const experiment = newExperiment({ seeds: 1 });
    const changed = await bench.provision(bench.copyTask('changed', { 'env/train.py': 'print("other")\n' }));
    const [result] = await workThrough(experiment, changed);
    expect(result?.problem).toContain('has changed since this experiment was planned');
    const plan = planOf(changed, agentByName('baseline'), { seeds: 1 });
    expect(() => createExperiment(experiment.folder, plan)).toThrow(/has changed since/);
  });

  test('grading needs nothing but the store', async () => {
    const experiment = newExperiment({ seeds: 1, grade: 'none' });
    await workThrough(experiment, resources);
    const folder = experiment.runFolder(String(experiment.runIds[0]));
    expect(readdirSync(folder.folder).toSorted()).toEqual(['lease', 'run.json', 'trace.jsonl.zst']);
    const services = { ...resources, helpersFolder: join(import.meta.dirname, '../../python') };
    const signal = new AbortController().signal;
    expect(await gradeRun({ folder, ...services, which: 'final', signal })).toMatchObject([{ score: 4.5 }]);
  });
});

describe('a plan', () => {
  const agents = [{ agent: agentByName('noop'), options: {} }];
  test('names every run, and refuses duplicates', () => {
    const tasks = [{ task: resources.task, verified: false }];
    const file = { tasks: ['sums'], agents: ['noop'], seeds: [4, 7], limits: { steps: 3 } };
    const whole = ExperimentFile.parse({ ...file, sandbox: 'none', gpu: true });
    const plan = makePlan(whole, tasks, agents, '1');
    expect(plan.runs.map(({ id }) => id)).toEqual(['sums-noop-4', 'sums-noop-7']);
    expect(plan.runs[0]).toMatchObject({
      limits: { steps: 3, script_seconds: 30 },
      gpu: false,
      caveats: ['no sandbox', 'unverified data'],
    });
    expect(makePlan({ ...whole, parallel: 9 }, tasks, agents, '1').name).toBe(plan.name);
    expect(makePlan({ ...whole, seeds: [4] }, tasks, agents, '1').name).not.toBe(plan.name);
    expect(() => makePlan({ ...whole, seeds: [4, 4] }, tasks, agents, '1')).toThrow('planned twice');
  });
});
