import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultLimits, type EventPayload, type ObjectId, Plan, RunSpec } from '../src/schema/index.ts';
import { createExperiment, type RunFolder, storeSnapshot, type TraceWriter } from '../src/store/index.ts';
import { generateRuns } from './generated-runs.ts';

const start = 1_790_000_000_000;

/** Experiments with the same number of runs: one is generated, the others are copies of it under their own names. */
export async function generateExperiments(root: string, experiments: number, runs: number): Promise<void> {
  const first = join(root, 'generated');
  await generateRuns(first, { runs, steps: 4, distinct: 8 });
  for (let number = 1; number < experiments; number++) {
    const name = `generated-${number}`;
    const folder = join(root, name);
    cpSync(first, folder, { recursive: true });
    rename(join(folder, 'plan.json'), name);
    for (const run of readdirSync(join(folder, 'runs'))) rename(join(folder, 'runs', run, 'run.json'), name);
  }
}

function rename(path: string, name: string): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll('"generated"', `"${name}"`));
}

export interface LongRun {
  experiment: string;
  run: RunFolder;
  /** Still open, so that more can be appended, as in a running run. */
  trace: TraceWriter;
  snapshots: readonly [ObjectId, ObjectId];
  events: number;
}

/** A run with this many steps of 15 events and 25 kB each: a call, three notes, an action, and output of a script. */
export function generateLongRun(root: string, steps: number): LongRun {
  const spec = RunSpec.parse({
    ...{
      id: 'digits-research-0',
      experiment: 'long',
      task: 'digits',
      task_version: '0'.repeat(64),
      agent: 'research',
    },
    ...{
      agent_options: {},
      model: 'openai/generated',
      seed: 0,
      limits: { ...defaultLimits, steps },
      sandbox: 'none',
    },
    ...{ gpu: false, caveats: [] },
  });
  const plan = {
    v: 1,
    name: 'long',
    created: start + 1,
    mlab: 'bench',
    parallel: 1,
    grade: 'none',
    runs: [spec],
  };
  const run = createExperiment(join(root, 'long'), Plan.parse(plan)).runFolder(spec.id);
  mkdirSync(run.folder, { recursive: true });
  run.lock();
  const trace = run.openTrace(() => start);
  const snapshots = [snapshotOf(run, 'rate = 0.1\n'), snapshotOf(run, 'rate = 0.2\n')] as const;
  const record = {
    v: 1,
    spec,
    status: 'running',
    end: null,
    versions: {},
    host: {},
    pid: process.pid,
  } as const;
  run.writeRecordSync({ ...record, started: start, updated: start, steps: 0, seconds_used: 0 });
  const long: LongRun = { experiment: 'long', run, trace, snapshots, events: 1 };
  trace.append({
    ...{ kind: 'session_started', session: 1, versions: {}, snapshot: snapshots[0], repaired_bytes: 0 },
    task: { problem: { text: 'Improve the accuracy.' }, entry: 'train.py', submission: ['submission.csv'] },
    seconds_used: 0,
  });
  for (let step = 1; step <= steps; step++) appendStep(long, step);
  return long;
}

function snapshotOf(run: RunFolder, content: string): ObjectId {
  const object = run.objects.putText(content.repeat(50));
  return storeSnapshot(run.objects, [
    { path: 'train.py', object, size: 50 * content.length, mode: 0o644, mtime: start },
  ]);
}

export function appendStep(long: LongRun, step: number): void {
  for (const event of stepEvents(step, long.snapshots)) {
    long.trace.append(event);
    long.events += 1;
  }
}

function stepEvents(step: number, snapshots: LongRun['snapshots']): EventPayload[] {
  const accuracy = (0.5 + (step % 400) / 1000).toFixed(4);
  const answer = JSON.stringify({
    kind: 'answered',
    text: 'Next. '.repeat(100),
    tool_calls: [],
    finish: 'stop',
  });
  const ask = JSON.stringify({ role: 'user', text: `What next? ${'So far. '.repeat(110)}` });
  return [
    {
      ...{
        kind: 'model_call',
        call: step,
        step: null,
        role: 'agent',
        purpose: 'act',
        model: 'openai/generated',
      },
      ...{ answered_by: null, temperature: 0.5, max_output_tokens: 2000, request: '0'.repeat(64) },
      ...{ messages: [{ text: ask }], tools: null, stop: [], answer: { text: answer }, failure: null },
      usage: {
        input: 3000,
        cached_input: 1000,
        cache_write: 0,
        output: 200,
        reasoning: 0,
        source: 'provider',
      },
      ...{ cost: 0.001, latency_ms: 900, waiting_ms: 0, attempts: [] },
    },
    {
      kind: 'note',
      entries: {
        Reflection: {
          text: `The accuracy is ${accuracy} after ${step} changes. ${'So it goes on. '.repeat(50)}`,
        },
        'Research Plan and Status': { text: `1. Tune (done)\n2. Measure: accuracy ${accuracy}\n`.repeat(18) },
        Thought: { text: 'Next I change the learning rate.' },
      },
    },
    { kind: 'step_started', step, action: 'Execute Script', args: { text: '{"script_name":"train.py"}' } },
    ...Array.from(
      { length: 11 },
      (_, part): EventPayload => ({
        ...{ kind: 'output', step, text: `epoch ${part}: loss 0.3, accuracy ${accuracy}\n`.repeat(48) },
      }),
    ),
    {
      ...{
        kind: 'step_finished',
        step,
        status: step % 10 === 0 ? 'failed' : 'ok',
        duration_ms: 900,
        exit_code: 0,
      },
      observation: { text: `epoch 11: accuracy ${accuracy}\n`.repeat(35) },
      ...{
        snapshot: snapshots[step % 2] ?? snapshots[0],
        changed: ['train.py'],
        changed_count: 1,
        undo: [],
        undone: [],
      },
      submission: { present: true, hash: null, written_at_step: step, stale: false },
      budget: {
        ...{
          steps_left: 0,
          seconds_left: 0,
          steps_used: step,
          seconds_used: step,
          tokens_left: null,
          money_left: null,
        },
      },
      overhead_ms: 1,
    },
  ];
}
