import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTranscript } from '../src/evaluation/index.ts';
import type { TaskResources } from '../src/runs/index.ts';
import { checkRun, type RunFolder, readTraceSync, resolveText, stepsOf } from '../src/store/index.ts';
import { TaskBench } from './fixtures/fixture-task.ts';
import { describeInSandbox } from './fixtures/needs-sandbox.ts';
import { runScripted, writeScript } from './fixtures/scripted-run.ts';

const bench = new TaskBench();
let resources: TaskResources;
let places = 0;

beforeAll(async () => {
  resources = await bench.provision();
});
afterAll(() => bench[Symbol.dispose]());

function isInstalled(name: string): boolean {
  try {
    return createRequire(import.meta.url).resolve(name) !== '';
  } catch {
    return false;
  }
}

function newPlace(): string {
  places += 1;
  return join(bench.experiments, String(places));
}

/** The actions and their results, without times. */
function deedsOf({ tracePath, objects }: RunFolder) {
  return stepsOf(readTraceSync(tracePath).events).map(({ started, finished }) => ({
    action: started.action,
    args: resolveText(objects, started.args),
    status: finished.status,
    observation: resolveText(objects, finished.observation).replaceAll(/\d+\.\d s/g, 'S'),
  }));
}

/** The transcript without the parts that differ from run to run: times, and bytes that depend on them. */
function transcriptOf(folder: RunFolder) {
  const { starter, ...transcript } = readTranscript(folder, []);
  const steps = transcript.steps.map(({ used, snapshot, submission, observation, ...step }) => ({
    ...step,
    tokens: used.tokens,
    observation: observation.replaceAll(/\d+\.\d s/g, 'S'),
  }));
  return { ...transcript, steps };
}

function callsOf({ tracePath }: RunFolder): number {
  return readTraceSync(tracePath).events.filter(({ kind }) => kind === 'model_call').length;
}

describeInSandbox('an agent with a language model', () => {
  const agents = ['tools', 'autogpt', 'langchain'];
  const installed = isInstalled('@langchain/classic/agents')
    ? agents
    : agents.filter((name) => name !== 'langchain');

  test.each(installed)('%s: finishes a run, and resumes it wherever it was killed', async (agent) => {
    writeScript(bench.folder, agent);
    const { record, folder: whole } = await runScripted(bench.folder, newPlace(), resources, agent);
    expect(record).toMatchObject({ status: 'finished', steps: 8, end: { reason: 'final_answer' } });
    expect(deedsOf(whole).map(({ status }) => status)).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
      'failed',
      'ok',
      'ok',
      'ok',
    ]);
    expect(await checkRun(whole)).toEqual([]);
    const { formatErrors, steps: told, end } = transcriptOf(whole);
    expect(formatErrors.map(({ reply }) => reply)).toEqual(['I should act.']);
    expect(told.some(({ entries }) => entries.Thought !== undefined)).toBe(true);
    expect(end).toMatchObject({ reason: 'final_answer', finalAnswer: 'done' });
    const { length } = readTraceSync(whole.tracePath).events;
    let kills = 0;
    for (const moment of [2, 4, 7, Math.floor(length / 2), length - 4]) {
      const experiments = newPlace();
      if (await killAfter(experiments, agent, moment)) kills += 1;
      const { record: resumed, folder } = await runScripted(bench.folder, experiments, resources, agent);
      expect(resumed, `killed after ${moment} events`).toMatchObject({ status: 'finished', steps: 8 });
      expect(deedsOf(folder)).toEqual(deedsOf(whole));
      expect(callsOf(folder)).toBe(callsOf(whole));
      expect(transcriptOf(folder)).toEqual(transcriptOf(whole));
      expect(await checkRun(folder)).toEqual([]);
    }
    // Near its end, a session may end before it is killed.
    expect(kills).toBeGreaterThanOrEqual(3);
  });

  test('tree: resumes its branches wherever it was killed, within its limits', async () => {
    writeScript(bench.folder, 'tree');
    const { record, folder: whole } = await runScripted(bench.folder, newPlace(), resources, 'tree');
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'final_answer' } });
    const { length } = readTraceSync(whole.tracePath).events;
    let kills = 0;
    for (const moment of [12, Math.floor(length / 2)]) {
      const experiments = newPlace();
      if (await killAfter(experiments, 'tree', moment)) kills += 1;
      const { record: resumed, folder } = await runScripted(bench.folder, experiments, resources, 'tree');
      expect(resumed, `killed after ${moment} events`).toMatchObject({
        ...{ status: 'finished', end: { reason: 'final_answer' } },
      });
      expect(resumed.steps).toBeLessThanOrEqual(50);
      expect(await checkRun(folder)).toEqual([]);
    }
    expect(kills).toBeGreaterThanOrEqual(1);
  });
});

/** Starts a session in a separate process and kills it once its trace has this many lines. False: it ended before. */
async function killAfter(experiments: string, agent: string, lines: number): Promise<boolean> {
  const script = join(import.meta.dirname, 'fixtures/scripted-run-child.ts');
  const child = spawn(process.execPath, [script, bench.cache, bench.folder, experiments, agent], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const runs = join(experiments, 'place/runs');
  const linesWritten = () => {
    const [run] = existsSync(runs) ? readdirSync(runs) : [];
    const trace = join(runs, run ?? '', 'trace.jsonl');
    return existsSync(trace) ? readFileSync(trace, 'utf8').split('\n').length - 1 : 0;
  };
  while (child.exitCode === null && linesWritten() < lines) await sleep(1);
  if (child.exitCode === null) child.kill('SIGKILL');
  await ended;
  return child.signalCode === 'SIGKILL';
}
