import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TaskBench } from '../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../test/fixtures/needs-sandbox.ts';
import { agentOf, planOf, runOnce, workThrough } from '../../test/fixtures/run-place.ts';
import { agentByName } from '../agents/index.ts';
import { ModelRegistry } from '../models/index.ts';
import { ExperimentFile, type ModelRequest, type RunParent } from '../schema/index.ts';
import {
  checkRun,
  createExperiment,
  type Experiment,
  openExperiment,
  readTraceSync,
  stepsOf,
} from '../store/index.ts';
import { makeForkPlan, replayRun, type TaskResources } from './index.ts';

const bench = new TaskBench();
let resources: TaskResources;
let places = 0;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

const settings = { models: ['scripted/replies.jsonl'] };
const toolCall = (name: string, input: object) => ({ tool_calls: [{ name, input }] });
const write = (content: string) => toolCall('Write_File', { file_name: 'notes.txt', content });
/** Without a submission it is held back once. */
const finish = toolCall('Final_Answer', { final_answer: 'done' });

function script(...replies: object[]): ModelRegistry {
  writeFileSync(
    join(bench.folder, 'replies.jsonl'),
    replies.map((reply) => JSON.stringify(reply)).join('\n'),
  );
  return new ModelRegistry({ variables: {}, folder: bench.folder });
}

async function runTools(registry: ModelRegistry, changes: Record<string, unknown> = {}) {
  places += 1;
  const plan = planOf(resources, agentByName('tools'), { ...settings, ...changes });
  const experiment = createExperiment(join(bench.experiments, String(places)), plan);
  const [result] = await workThrough(experiment, resources, 'continue', { registry });
  return { experiment, result };
}

function only({ plan }: Experiment) {
  const [spec] = plan.runs;
  if (spec === undefined) throw new Error('the plan is empty');
  return spec;
}

describeInSandbox('a run of an agent with a language model', () => {
  test('keeps the usage of its calls, and replays the same actions from its trace alone', async () => {
    const registry = script(write('one'), write('two'), finish, finish);
    const { experiment, result } = await runTools(registry);
    expect(result?.record).toMatchObject({ status: 'finished', spent: { calls: 4, unpriced: 4 } });
    const folder = experiment.runFolder(only(experiment).id);
    expect(await checkRun(folder)).toEqual([]);
    const replay = () => replayRun(only(experiment), folder, agentByName('tools'), resources.task);
    expect(await replay()).toMatchObject({ steps: 3, calls: 4, diverged: null });
    const changed = { ...resources.task, brief: { ...resources.task.brief, problem: 'Another problem.' } };
    const other = await replayRun(only(experiment), folder, agentByName('tools'), changed);
    expect(other.diverged).toMatch(/model call 1 .*message \d .*Another problem/);
  });

  test('shows the usage of its earlier sessions while it is being resumed', async () => {
    const models = { registry: script({ text: 'hello' }), shared: null };
    const controller = new AbortController();
    const request: ModelRequest = { role: 'agent', purpose: 'act', messages: [{ role: 'user', text: 'x' }] };
    const needs = { model: true, reference: false };
    const asks = agentOf(async ({ environment }) => {
      await environment.ask(request);
      controller.abort();
    });
    const options = { changes: settings, models };
    const place = join(bench.experiments, 'meanwhile');
    const first = await runOnce(
      place,
      resources,
      { ...asks, needs },
      { ...options, signal: controller.signal },
    );
    expect(first.record).toMatchObject({ status: 'interrupted', spent: { calls: 1 } });
    let meanwhile: unknown;
    const looks = agentOf(async ({ environment }) => {
      await environment.ask(request);
      meanwhile = first.folder.readRecord();
    });
    await runOnce(place, resources, { ...looks, needs }, options);
    expect(meanwhile).toMatchObject({ status: 'running', spent: first.record.spent });
  });

  test('that stopped at a limit of the experiment resumes when the limit is raised', async () => {
    const registry = script(write('one'), write('two'), finish, finish);
    const { experiment, result } = await runTools(registry, { spend: { tokens: 19_000 } });
    expect(result?.record).toMatchObject({
      status: 'failed',
      end: { reason: 'infrastructure_error', cause: 'experiment_limit' },
    });
    expect(await checkRun(experiment.runFolder(only(experiment).id))).toEqual([]);
    const { plan } = experiment;
    const raised = createExperiment(experiment.folder, { ...plan, spend: { tokens: 3_000_000 } });
    const wider = { ...raised.plan, spend: { tokens: 3_000_000 } };
    writeFileSync(join(raised.folder, 'plan.json'), JSON.stringify(wider));
    const again = openExperiment(raised.folder);
    const [after] = await workThrough(again, resources, 'continue', { registry });
    expect(after?.record).toMatchObject({ status: 'finished', spent: { calls: 4 } });
  });
});

describeInSandbox('a run that is forked from a step of another', () => {
  test('shares the steps up to the fork, continues differently from there, and names its parent', async () => {
    const first = await runTools(script(write('one'), write('two'), finish, finish));
    const source = only(first.experiment);
    const parent: RunParent = { experiment: first.experiment.plan.name, run: source.id, step: 1 };
    const plan = makeForkPlan(source, parent, ExperimentFile.parse({ limits: { steps: 9 } }), {}, '0');
    expect(plan.runs).toMatchObject([{ parent, limits: { steps: 9 }, seed: source.seed, agent: 'tools' }]);
    const fork = createExperiment(join(bench.experiments, plan.name), plan);
    const registry = script(write('one'), write('another way'), finish, finish);
    const folder = first.experiment.runFolder(source.id);
    const [result] = await workThrough(fork, resources, 'continue', {
      registry,
      parentExperiment: first.experiment.folder,
    });
    expect(result?.problem).toBeNull();
    expect(result?.record).toMatchObject({ status: 'finished', steps: 3 });
    const forked = fork.runFolder(only(fork).id);
    expect(await checkRun(forked)).toEqual([]);
    const { events } = readTraceSync(forked.tracePath);
    expect(events.filter((event) => event.kind === 'session_started').at(-1)).toMatchObject({ parent });
    const [one, two] = stepsOf(events);
    const [old, different] = stepsOf(readTraceSync(folder.tracePath).events);
    expect(one?.finished.snapshot).toBe(old?.finished.snapshot);
    expect(two?.started.args).not.toEqual(different?.started.args);
    expect(await replayRun(only(fork), forked, agentByName('tools'), resources.task)).toMatchObject({
      diverged: null,
    });
  });

  test('needs an existing step', async () => {
    const first = await runTools(script(finish, finish));
    const source = only(first.experiment);
    const parent: RunParent = { experiment: first.experiment.plan.name, run: source.id, step: 8 };
    const plan = makeForkPlan(source, parent, ExperimentFile.parse({}), {}, '0');
    const fork = createExperiment(join(bench.experiments, plan.name), plan);
    const [result] = await workThrough(fork, resources, 'continue', {
      registry: script(),
      parentExperiment: first.experiment.folder,
    });
    expect(result?.problem).toContain('has no step 8');
  });
});

describeInSandbox('an agent that hangs', () => {
  test('is ended some seconds after its time is up, and its run is graded like others', async () => {
    const hangs = agentOf(async ({ environment }) => {
      await environment.step({ name: 'List Files', args: { dir_path: '.' } });
      await new Promise(() => {});
    });
    const changes = { limits: { wall_seconds: 2 } };
    const { record } = await runOnce(join(bench.experiments, 'hangs'), resources, hangs, { changes });
    expect(record).toMatchObject({ status: 'finished', steps: 1, end: { reason: 'time_limit' } });
  }, 30_000);

  test('cannot prevent a stopped run from stopping', async () => {
    const controller = new AbortController();
    const request: ModelRequest = { role: 'agent', purpose: 'act', messages: [{ role: 'user', text: 'x' }] };
    const hangs = agentOf(async ({ environment }) => {
      await environment.step({ name: 'List Files', args: { dir_path: '.' } });
      controller.abort();
      await environment.ask(request).catch(() => {});
      await new Promise(() => {});
    });
    const options = { signal: controller.signal };
    const { record } = await runOnce(join(bench.experiments, 'stops'), resources, hangs, options);
    expect(record).toMatchObject({ status: 'interrupted', steps: 1 });
  }, 30_000);
});
