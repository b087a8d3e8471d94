import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { mlab, startMlab } from '../../../test/fixtures/mlab-process.ts';
import { describeInSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import { planOf, workThrough } from '../../../test/fixtures/run-place.ts';
import { WorkerExecutor } from '../../../test/fixtures/worker-executor.ts';
import { agentByName } from '../../agents/index.ts';
import { ModelRegistry } from '../../models/index.ts';
import { Job, type TraceEvent } from '../../schema/index.ts';
import {
  archivedAttempts,
  checkRun,
  createExperiment,
  type Experiment,
  readSnapshot,
  readTraceSync,
} from '../../store/index.ts';
import type { TaskResources } from '../index.ts';

const bench = new TaskBench();
const place = { folder: bench.folder, variables: { MLAB_CACHE: bench.cache, ANTHROPIC_API_KEY: 'a-secret' } };
let resources: TaskResources;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

function experimentOf(name: string, agent: string, changes: Record<string, unknown> = {}): Experiment {
  const plan = planOf(resources, agentByName(agent), { seeds: 2, grade: 'all', ...changes, name });
  return createExperiment(join(bench.experiments, name), plan);
}

/**
 * A trace without what differs from one execution to the next: times, hashes that depend on them (including those of
 * files in snapshots), and versions.
 */
function comparable(events: readonly TraceEvent[]): unknown {
  const left = /^(time|prev|versions|epoch|budget|snapshot|request|.*_ms|.*seconds.*|.*_bytes)$/;
  const text = JSON.stringify(events, (key, value) => (left.test(key) ? undefined : value));
  return JSON.parse(text.replaceAll(/\b[\d.]+ (s|min|h)\b/g, '… $1'));
}

function outcomes(experiment: Experiment) {
  return experiment.plan.runs.map(({ id }) => {
    const folder = experiment.runFolder(id);
    const grades = folder.readGrades().grades.map(({ step, final, score, submission, snapshot, grader }) => {
      const { entries } = readSnapshot(folder.objects, snapshot);
      const files = entries.map((entry) => [entry.path, 'object' in entry ? entry.object : null]);
      return { step, final, score, submission, grader, files };
    });
    const record = folder.readRecord();
    const events = comparable(readTraceSync(folder.tracePath).events);
    return { id, status: record?.status, end: record?.end, steps: record?.steps, grades, events };
  });
}

/** The documents of an experiment's jobs, as files. */
async function jobsOf(
  experiment: Experiment,
  incomplete: 'continue' | 'restart' = 'continue',
): Promise<string[]> {
  const documents: string[] = [];
  const executor = {
    execute: async (job: Job) => {
      documents.push(JSON.stringify(job));
      return { record: null, problem: null };
    },
  };
  await workThrough(experiment, resources, incomplete, { executor });
  return documents.map((document, index) => {
    const file = join(bench.folder, `${experiment.plan.name}-${index}.json`);
    writeFileSync(file, document);
    return file;
  });
}

describeInSandbox('mlab worker', () => {
  test('executes and grades the runs of a plan in separate processes with the same result as one process', async () => {
    const script = [
      { tool_calls: [{ name: 'Execute_Script', input: { script_name: 'train.py' } }] },
      { tool_calls: [{ name: 'Final_Answer', input: { final_answer: 'done' } }] },
    ];
    writeFileSync(join(bench.folder, 'replies.jsonl'), script.map((one) => JSON.stringify(one)).join('\n'));
    const agents: [string, Record<string, unknown>][] = [
      ['baseline', {}],
      ['tools', { models: ['scripted/replies.jsonl'], spend: { tokens: 1_000_000 } }],
    ];
    for (const [agent, changes] of agents) {
      const here = experimentOf(`here-${agent}`, agent, changes);
      const registry = new ModelRegistry({ variables: {}, folder: bench.folder });
      const first = await workThrough(here, resources, 'continue', { registry });
      const there = experimentOf(`there-${agent}`, agent, changes);
      const executor = new WorkerExecutor(bench.folder, place.variables);
      const more = { executor, modelsFolder: bench.folder };
      const second = await workThrough(there, resources, 'continue', more);
      expect(
        second.map(({ problem }) => problem),
        executor.said.join('\n'),
      ).toEqual([null, null]);
      expect(second.map(({ record }) => record?.status)).toEqual(first.map(({ record }) => record?.status));
      expect(outcomes(there)).toEqual(outcomes(here));
      for (const id of there.runIds) expect(await checkRun(there.runFolder(id))).toEqual([]);
      expect(executor.documents).toHaveLength(4);
      for (const document of executor.documents) {
        expect(Job.parse(JSON.parse(document))).toEqual(JSON.parse(document));
        expect(document).not.toContain('a-secret');
      }
    }
  });

  test('resumes after it is killed and started again with the same job, and does nothing once all is done', async () => {
    const experiment = experimentOf('killed', 'baseline', { seeds: 1 });
    const [run = '', grade = ''] = await jobsOf(experiment);
    const folder = experiment.runFolder(String(experiment.runIds[0]));
    for (const delay of [600, 900, 1200]) {
      const started = startMlab(['worker', run], place);
      await sleep(delay);
      started.process.kill('SIGKILL');
      await started.ended;
    }
    const early = await mlab(['worker', grade], place);
    if (folder.readRecord()?.status !== 'finished') expect(early.code).toBe(1);
    expect(await mlab(['worker', run], place)).toMatchObject({ code: 0 });
    expect(await mlab(['worker', grade], place)).toMatchObject({ code: 0 });
    expect(folder.readGrades().grades.at(-1)).toMatchObject({ final: true, score: 4.5 });
    const before = readFileSync(folder.recordPath, 'utf8');
    for (const job of [run, grade]) expect(await mlab(['worker', job], place)).toMatchObject({ code: 0 });
    expect(readFileSync(folder.recordPath, 'utf8')).toBe(before);
    expect(await checkRun(folder)).toEqual([]);
  });

  test('refuses a file that is not a job, a changed plan, and a run that another process executes', async () => {
    const experiment = experimentOf('refused', 'baseline', { seeds: 1 });
    const [job = ''] = await jobsOf(experiment);
    const folder = experiment.runFolder(String(experiment.runIds[0]));
    const no = join(bench.folder, 'no-job.json');
    writeFileSync(no, '{"kind":"run"}');
    const refused = await mlab(['worker', no], place);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('is not a valid job');
    {
      using _lock = folder.lock();
      const locked = await mlab(['worker', job], place);
      expect(locked.code).not.toBe(0);
      expect(locked.err).toContain(`process ${process.pid} on`);
    }
    const changed = JSON.parse(readFileSync(job, 'utf8'));
    changed.run.seed = 77;
    writeFileSync(job, JSON.stringify(changed));
    expect((await mlab(['worker', job], place)).err).toContain('does not match the run');
    expect(folder.readRecord()).toBeNull();
  });
});

test('a restart archives an attempt once, however often its job is executed', async () => {
  const experiment = experimentOf('again', 'noop', { seeds: 1, sandbox: 'none', grade: 'none' });
  const folder = experiment.runFolder(String(experiment.runIds[0]));
  const [first = ''] = await jobsOf(experiment);
  const interrupt = () => {
    const record = folder.readRecord();
    if (record === null) throw new Error('the run has not begun');
    folder.writeRecordSync({ ...record, status: 'interrupted', end: null });
  };
  expect(await mlab(['worker', first], place)).toMatchObject({ code: 0 });
  interrupt();
  const [again = ''] = await jobsOf(experiment, 'restart');
  for (let time = 0; time < 2; time++) {
    expect(await mlab(['worker', again], place)).toMatchObject({ code: 0 });
    expect(archivedAttempts(folder)).toHaveLength(1);
    interrupt();
  }
});
