import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDeepFolder } from '../../../test/fixtures/deep-folder.ts';
import { exampleLesson } from '../../../test/fixtures/experience.ts';
import { TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { describeInSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import { agentOf, runOnce } from '../../../test/fixtures/run-place.ts';
import { steadyAgent } from '../../../test/fixtures/steady-agent.ts';
import type { RunSpec } from '../../schema/index.ts';
import {
  checkRun,
  outputFile,
  type RunFolder,
  readTraceSync,
  resolveText,
  stepsOf,
} from '../../store/index.ts';
import { replayRun, type TaskResources } from '../index.ts';

const bench = new TaskBench();
let resources: TaskResources;
let places = 0;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

function newPlace(): string {
  places += 1;
  return join(bench.experiments, String(places));
}

const submits = agentOf(async ({ environment }) => {
  await environment.step({ name: 'Execute Script', args: { script_name: 'train.py' } });
  await environment.step({ name: 'Final Answer', args: { final_answer: 'done' } });
});

/** The actions and their results, without times. */
function deedsOf(folder: RunFolder) {
  const { events } = readTraceSync(folder.tracePath);
  return stepsOf(events).map(({ step, started, finished }) => ({
    step,
    action: started.action,
    args: resolveText(folder.objects, started.args),
    status: finished.status,
    observation: resolveText(folder.objects, finished.observation).replaceAll(/\d+\.\d s/g, 'S'),
    submission: finished.submission,
    undo: finished.undo,
  }));
}

describeInSandbox('how a run ends', () => {
  test('with a final answer it is finished: record, trace and store agree, and the workspace folder is gone', async () => {
    const { record, folder } = await runOnce(newPlace(), resources, submits);
    expect(record).toMatchObject({
      status: 'finished',
      steps: 2,
      end: { reason: 'final_answer' },
      pid: null,
    });
    expect(folder.readRecord()).toMatchObject({ status: 'finished', steps: 2 });
    const ended = readTraceSync(folder.tracePath).events.at(-1);
    expect(ended).toMatchObject({ kind: 'run_ended', seconds_used: record.seconds_used });
    expect(existsSync(join(folder.folder, 'workspace'))).toBe(false);
    expect(await checkRun(folder)).toEqual([]);
    expect(
      readTraceSync(folder.tracePath)
        .events.map(({ kind }) => kind)
        .filter((kind) => kind !== 'output'),
    ).toEqual([
      ...['session_started', 'step_started', 'step_finished', 'step_started', 'step_finished', 'run_ended'],
    ]);
  });

  test('an agent gets the lessons of its spec, also when its run is replayed', async () => {
    const answers = agentOf(async ({ environment, experience }) => {
      const cited = (experience ?? []).map(({ change }) => change.text).join();
      await environment.step({ name: 'Final Answer', args: { final_answer: `cited: ${cited}` } });
    });
    const agent = { ...answers, usesExperience: true as const };
    const { folder, record } = await runOnce(newPlace(), resources, agent, { lessons: [exampleLesson()] });
    expect(deedsOf(folder)[0]?.args).toContain('cited: LEARNING_RATE');
    const replay = (spec: RunSpec) => replayRun(spec, folder, agent, resources.task);
    expect((await replay(record.spec)).diverged).toBe(null);
    expect((await replay({ ...record.spec, experience: [] })).diverged).not.toBe(null);
  });

  test('an agent gets the default of an option that was not set, and the record has only those that were', async () => {
    const answers = agentOf(async ({ environment, options }) => {
      await environment.step({ name: 'Final Answer', args: { final_answer: JSON.stringify(options) } });
    });
    const agent = { ...answers, options: { tries: { description: 'how often', default: 2 } } };
    const { folder, record } = await runOnce(newPlace(), resources, agent);
    expect(JSON.parse(deedsOf(folder)[0]?.args ?? '')).toEqual({ final_answer: '{"tries":2}' });
    expect(record.spec.agent_options).toEqual({});
  });

  test('an agent that stops, one that fails, and one that uses up its steps are distinguished', async () => {
    const acts = { name: 'List Files', args: { dir_path: '.' } };
    const stops = agentOf(async ({ environment }) => void (await environment.step(acts)));
    expect((await runOnce(newPlace(), resources, stops)).record.end?.reason).toBe('agent_stopped');
    const fails = agentOf(async ({ environment }) => {
      await environment.step(acts);
      throw new Error('a fault of the agent');
    });
    const failed = (await runOnce(newPlace(), resources, fails)).record;
    expect(failed).toMatchObject({ status: 'finished', steps: 1, end: { reason: 'agent_error' } });
    expect(failed.end?.message).toContain('a fault of the agent');
    const never = agentOf(async ({ environment }) => {
      for (let ended = false; !ended; ) ({ ended } = await environment.step(acts));
    });
    const limits = { limits: { steps: 3 } };
    expect((await runOnce(newPlace(), resources, never, { changes: limits })).record).toMatchObject({
      steps: 3,
      end: { reason: 'step_limit' },
    });
    const slow = agentOf(async ({ environment }) => {
      await environment.step({ name: 'Run Command', args: { command: 'sleep 600' } });
    });
    const time = { limits: { wall_seconds: 1 } };
    expect((await runOnce(newPlace(), resources, slow, { changes: time })).record).toMatchObject({
      steps: 1,
      end: { reason: 'time_limit' },
    });
  });

  test('an agent that ignores the end of its run does not prevent its grading', async () => {
    const deaf = agentOf(async ({ environment }) => {
      for (;;) await environment.step({ name: 'Check Budget', args: {} });
    });
    const ended = await runOnce(newPlace(), resources, deaf, { changes: { limits: { steps: 3 } } });
    expect(ended.record).toMatchObject({ status: 'finished', steps: 3, end: { reason: 'step_limit' } });
    const replayed = await replayRun(ended.record.spec, ended.folder, deaf, resources.task);
    expect(replayed).toMatchObject({ steps: 3, diverged: null });
  });

  test('the replay of an agent that did nothing more until its time was up ends where the recording does', async () => {
    const idles = agentOf(async ({ environment }) => {
      await environment.step({ name: 'Check Budget', args: {} });
      await new Promise(() => {});
    });
    const changes = { limits: { wall_seconds: 1 } };
    const { record, folder } = await runOnce(newPlace(), resources, idles, { changes });
    expect(record).toMatchObject({ steps: 1, end: { reason: 'time_limit' } });
    // Also if it has more time than the run had.
    const spec = { ...record.spec, limits: { ...record.spec.limits, wall_seconds: 3600 } };
    expect(await replayRun(spec, folder, idles, resources.task)).toMatchObject({ steps: 1, diverged: null });
    const lazy = agentOf(async () => await new Promise(() => {}));
    const { diverged } = await replayRun(record.spec, folder, lazy, resources.task);
    expect(diverged).toContain('The agent stopped before');
  });

  test('a failure of the harness in a step is an infrastructure error, whatever the agent does then', async () => {
    const experiments = newPlace();
    const swallows = agentOf(async ({ environment }) => {
      const objects = join(experiments, 'place/objects');
      // The store is gone: nothing can be kept any more.
      (await import('node:fs')).rmSync(objects, { recursive: true });
      writeFileSync(objects, 'in the way');
      const content = 'x'.repeat(5000);
      await environment.step({ name: 'Write File', args: { file_name: 'a', content } }).catch(() => {});
    });
    const { record } = await runOnce(experiments, resources, swallows);
    expect(record).toMatchObject({ status: 'failed', end: { reason: 'infrastructure_error' } });
  });

  test('folders that cannot be entered do not make a run fail at its end', async () => {
    const locks = agentOf(async ({ environment }) => {
      const command = 'mkdir -p a/b && touch a/b/c && chmod 0 a/b a . && true';
      await environment.step({ name: 'Run Command', args: { command } });
    });
    const { record, folder } = await runOnce(newPlace(), resources, locks);
    expect(record.status).toBe('finished');
    expect(existsSync(join(folder.folder, 'workspace'))).toBe(false);
  });

  test('read-only files cannot be changed by actions or scripts, including dotted names and folders', async () => {
    const statuses: string[] = [];
    const tries = agentOf(async ({ environment }) => {
      for (const file_name of ['.pinned', 'frozen/.helper.py', './frozen/new.py', 'frozen/../.pinned']) {
        statuses.push(
          (await environment.step({ name: 'Write File', args: { file_name, content: '' } })).status,
        );
      }
      for (const command of ['echo x > .pinned', 'echo x > frozen/.helper.py', 'rm frozen/.helper.py'])
        statuses.push((await environment.step({ name: 'Run Command', args: { command } })).status);
    });
    await runOnce(newPlace(), resources, tries);
    expect(statuses).toEqual([...Array(4).fill('refused'), ...Array(3).fill('failed')]);
  });
});

describeInSandbox('an agent in its own way', () => {
  test.each([
    'mv frozen x && ln -s /nonexistent frozen',
    'mv frozen x && ln -s /etc frozen',
    'mv frozen x && echo > frozen',
    'mv frozen x',
    'chmod 0 frozen',
    'rm -rf data .outputs .pinned; mv data y; mv .pinned z',
  ])('that does "%s" can continue, and its run is not an infrastructure error', async (command) => {
    const observations: string[] = [];
    const moves = agentOf(async ({ environment }) => {
      for (const one of [command, 'true', 'chmod u+rwx frozen; cat frozen/.helper.py .pinned']) {
        observations.push(
          (await environment.step({ name: 'Run Command', args: { command: one } })).observation,
        );
      }
    });
    const { record } = await runOnce(newPlace(), resources, moves);
    expect(record).toMatchObject({ status: 'finished', steps: 3, end: { reason: 'agent_stopped' } });
    expect(observations[2]).toMatch(/^print\("frozen"\)\npinned\n\[exit code 0/);
    // It contains mounts, so nobody can move it while a command runs.
    if (command.startsWith('mv')) expect(observations[0]).toContain('busy');
  });
});

test('if the sandbox cannot start, the run fails and says why, and nothing ran unconfined', async () => {
  const proof = join(bench.folder, 'ran-unconfined');
  const runs = agentOf(async ({ environment }) => {
    await environment.step({ name: 'Run Command', args: { command: `touch ${proof}` } });
  });
  // A read-only mount cannot be made from a folder that does not exist.
  const broken = {
    ...resources,
    python: { ...resources.python, environment: join(bench.folder, 'no-such-venv') },
  };
  const { record } = await runOnce(newPlace(), broken, runs);
  expect(record).toMatchObject({ status: 'failed', steps: 0, end: { reason: 'infrastructure_error' } });
  expect(record.end?.message).toContain("The sandbox can't start");
  expect(existsSync(proof)).toBe(false);
});

describeInSandbox('going on', () => {
  test('a run that was stopped resumes with the same actions and ends the same', async () => {
    const { folder: whole } = await runOnce(newPlace(), resources, steadyAgent);
    const experiments = newPlace();
    const controller = new AbortController();
    const stopped = runOnce(experiments, resources, steadyAgent, { signal: controller.signal });
    setTimeout(() => controller.abort(), 400);
    const first = (await stopped).record;
    expect(['interrupted', 'finished']).toContain(first.status);
    const { record, folder } = await runOnce(experiments, resources, steadyAgent);
    expect(record.status).toBe('finished');
    expect(deedsOf(folder)).toEqual(deedsOf(whole));
    expect(await checkRun(folder)).toEqual([]);
  });

  test('a run that was killed at any moment resumes with the same actions and ends the same', async () => {
    const { folder: whole, record: uninterrupted } = await runOnce(newPlace(), resources, steadyAgent);
    const events = readTraceSync(whole.tracePath).events.length;
    for (const moment of [1, 2, 5, 12, Math.floor(events / 2), events - 6, events - 1]) {
      const experiments = newPlace();
      await killAfter(experiments, moment);
      const { record, folder } = await runOnce(experiments, resources, steadyAgent);
      expect(record).toMatchObject({ status: 'finished', steps: uninterrupted.steps });
      expect(deedsOf(folder), `killed after ${moment} events`).toEqual(deedsOf(whole));
      expect(await checkRun(folder)).toEqual([]);
    }
  });

  test('a run that has a record and no trace yet begins: its process was killed, or could not open the trace', async () => {
    const experiments = newPlace();
    const trace = join(experiments, 'place/runs/sums-steady-0/trace.jsonl');
    mkdirSync(trace, { recursive: true });
    const { record: failed } = await runOnce(experiments, resources, steadyAgent);
    expect(failed).toMatchObject({ status: 'failed', end: { reason: 'infrastructure_error' } });
    rmdirSync(trace);
    const { record, folder } = await runOnce(experiments, resources, steadyAgent);
    expect(record).toMatchObject({ status: 'finished', started: failed.started });
    expect(await checkRun(folder)).toEqual([]);
  });

  test('a run whose end was the last thing that its process wrote has ended, and does not end twice', async () => {
    const experiments = newPlace();
    const { folder: whole, record: ended } = await runOnce(experiments, resources, steadyAgent);
    writeFileSync(whole.recordPath, JSON.stringify({ ...ended, status: 'running', end: null }));
    const { record, folder } = await runOnce(experiments, resources, steadyAgent);
    expect(record).toMatchObject({ status: 'finished', end: ended.end, steps: ended.steps });
    const { events } = readTraceSync(folder.tracePath);
    expect(events.filter(({ kind }) => kind === 'run_ended')).toHaveLength(1);
    expect(await checkRun(folder)).toEqual([]);
  });

  test('an agent that acts differently than before is reported, with what to do', async () => {
    const experiments = newPlace();
    const controller = new AbortController();
    const early = agentOf(async ({ environment }) => {
      await environment.step({ name: 'List Files', args: { dir_path: '.' } });
      controller.abort();
      await environment.step({ name: 'List Files', args: { dir_path: '.' } });
    });
    expect(
      (await runOnce(experiments, resources, early, { signal: controller.signal })).record,
    ).toMatchObject({
      status: 'interrupted',
      steps: 1,
    });
    const { record } = await runOnce(experiments, resources, submits);
    expect(record.status).toBe('failed');
    expect(record.end?.message).toMatch(/can't go on from its trace[\s\S]*--incomplete restart/);
  });

  test('a workspace that a killed session left behind is restored from the trace', async () => {
    const experiments = newPlace();
    const controller = new AbortController();
    const early = agentOf(async ({ environment }) => {
      await environment.step({ name: 'Write File', args: { file_name: 'a', content: 'one' } });
      controller.abort();
    });
    const { folder } = await runOnce(experiments, resources, early, { signal: controller.signal });
    mkdirSync(join(folder.folder, 'workspace/junk'), { recursive: true });
    makeDeepFolder(join(folder.folder, 'workspace/junk'), { levels: 3_000 });
    writeFileSync(join(folder.folder, 'workspace/a'), 'half');
    for (const step of [1, 2]) writeFileSync(join(folder.outputsFolder, outputFile(step)), 'long');
    let seen = '';
    const command = 'ls . .outputs; cat a';
    const late = agentOf(async ({ environment }) => {
      await environment.step({ name: 'Write File', args: { file_name: 'a', content: 'one' } });
      const { observation } = await environment.step({ name: 'Run Command', args: { command } });
      seen = observation;
    });
    await runOnce(experiments, resources, late);
    expect(seen).toMatch(/^\.:\na\ndata\nfrozen\ntrain\.py\n\n\.outputs:\nstep-00001\.txt\none\n/);
  });
});

/** Starts a run in a separate process and kills it when its trace has this many lines. */
async function killAfter(experiments: string, lines: number): Promise<void> {
  const script = join(import.meta.dirname, '../../../test/fixtures/run-child.ts');
  const child = spawn(process.execPath, [script, bench.cache, experiments], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const trace = join(experiments, 'place/runs/sums-steady-0/trace.jsonl');
  while (child.exitCode === null && linesOf(trace) < lines) await sleep(1);
  kill(child);
  await ended;
}

function kill(child: ChildProcess): void {
  if (child.exitCode === null) child.kill('SIGKILL');
}

function linesOf(file: string): number {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
}
