import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  defaultLimits,
  type EventPayload,
  type Grade,
  ObjectId,
  Plan,
  RunSpec,
} from '../src/schema/index.ts';
import { createExperiment, type Experiment, type RunFolder, TraceWriter } from '../src/store/index.ts';

export interface GeneratedRuns {
  runs: number;
  /** Actions of each. */
  steps: number;
  /** Runs that differ; the others are copies of these under their own names. */
  distinct: number;
  /** How many have begun; default: all. */
  begun?: number;
}

const start = 1_790_000_000_000;
const nothing = ObjectId.parse('0'.repeat(64));

/**
 * Runs like those of a language-model agent: before each step a model call and three entries, every second observation
 * an execution that prints 100 lines with other numbers each, and every step graded. Two agents on four tasks.
 */
export async function generateRuns(folder: string, wanted: GeneratedRuns): Promise<Experiment> {
  const specs = Array.from({ length: wanted.runs }, (_, index) => specOf(index));
  const plan = Plan.parse({
    ...{ v: 1, name: 'generated', created: start, mlab: 'bench', parallel: 1, grade: 'all', runs: specs },
  });
  const experiment = createExperiment(folder, plan);
  for (const [index, spec] of specs.slice(0, wanted.begun).entries()) {
    const run = experiment.runFolder(spec.id);
    mkdirSync(run.folder, { recursive: true });
    const original = specs[index % wanted.distinct];
    if (index < wanted.distinct || original === undefined) {
      await writeTrace(run, wanted.steps, index);
      for (let step = 0; step <= wanted.steps; step++) run.appendGrade(gradeOf(step, wanted.steps, index));
    } else {
      const from = experiment.runFolder(original.id);
      copyFileSync(from.tracePath, run.tracePath);
      copyFileSync(from.gradesPath, run.gradesPath);
    }
    writeRecord(run, spec, wanted.steps);
  }
  return experiment;
}

function specOf(index: number): RunSpec {
  const task = ['digits', 'diabetes', 'house-price', 'vectorization'][index % 4];
  const agent = index % 8 < 4 ? 'research' : 'react';
  const seed = Math.floor(index / 8);
  return RunSpec.parse({
    ...{ id: `${task}-${agent}-${seed}`, experiment: 'generated', task, task_version: '0'.repeat(64), agent },
    ...{ agent_options: {}, model: 'openai/generated', seed, limits: defaultLimits, sandbox: 'none' },
    ...{ gpu: false, caveats: [] },
  });
}

async function writeTrace(run: RunFolder, steps: number, seed: number): Promise<void> {
  await using trace = TraceWriter.open(run.tracePath, run.objects, { now: () => start });
  const append = (event: EventPayload) => trace.append(event);
  const text = (value: string) => trace.textRef(value);
  append({
    ...{ kind: 'session_started', session: 1, versions: {}, snapshot: nothing, repaired_bytes: 0 },
    task: { problem: text('Improve the accuracy.'), entry: 'train.py', submission: ['submission.csv'] },
    seconds_used: 0,
  });
  for (let step = 1; step <= steps; step++) {
    const accuracy = (0.5 + (step * 7 + seed) / 1000).toFixed(4);
    append(modelCallOf(step, text(`${'What was done so far. '.repeat(100)}${step}`)));
    append({
      kind: 'note',
      entries: {
        Reflection: text(
          `The accuracy is ${accuracy} after ${step} changes. ${'So it goes on. '.repeat(10)}`,
        ),
        'Research Plan and Status': text(`1. Tune (done)\n2. Measure: accuracy ${accuracy}\n3. Submit`),
        Thought: text('Next I change the learning rate.'),
      },
    });
    const edits = step % 2 === 0;
    append({
      ...{ kind: 'step_started', step, action: edits ? 'Write File' : 'Execute Script' },
      args: text(
        JSON.stringify(
          edits
            ? { file_name: 'train.py', content: `rate = ${step + seed}\n`.repeat(100) }
            : { script_name: 'train.py' },
        ),
      ),
    });
    const epochs = epochLines(step, seed);
    append({
      ...{ kind: 'step_finished', step, status: 'ok', exit_code: edits ? null : 0, duration_ms: 900 },
      observation: text(edits ? 'Wrote train.py' : `${epochs}validation accuracy ${accuracy}\n`),
      ...{ snapshot: nothing, changed: [edits ? 'train.py' : 'submission.csv'], changed_count: 1 },
      ...{ undo: [], undone: [], overhead_ms: 1 },
      submission: { present: true, hash: null, written_at_step: step, stale: false },
      budget: {
        ...{ steps_left: 0, seconds_left: 0, steps_used: step, seconds_used: step },
        ...{ tokens_left: null, money_left: null },
      },
    });
  }
  append({
    ...{ kind: 'run_ended', reason: 'final_answer', message: '', final_answer: text('Done.') },
    ...{ snapshot: nothing, submission: null, seconds_used: steps },
  });
}

function epochLines(step: number, seed: number): string {
  const loss = (epoch: number) => (1 / (epoch + step / 50 + seed / 1000)).toFixed(4);
  return Array.from(
    { length: 100 },
    (_, index) => `epoch ${index + 1} seed ${seed}: loss ${loss(index + 1)}\n`,
  ).join('');
}

const reply = JSON.stringify({ kind: 'answered', text: 'Next.', tool_calls: [], finish: 'stop' });

function modelCallOf(
  call: number,
  message: { text: string } | { object: ObjectId; bytes: number },
): EventPayload {
  return {
    ...{ kind: 'model_call', call, step: null, role: 'agent', purpose: 'act', model: 'openai/generated' },
    ...{ answered_by: null, temperature: 0.5, max_output_tokens: 2000, request: '0'.repeat(64) },
    ...{ messages: [message], tools: null, stop: [], answer: { text: reply }, failure: null },
    usage: { input: 3000, cached_input: 1000, cache_write: 0, output: 200, reasoning: 0, source: 'provider' },
    ...{ cost: 0.001, latency_ms: 900, waiting_ms: 0, attempts: [] },
  };
}

function gradeOf(step: number, steps: number, seed: number): Grade {
  const figures = { mean: 0.55, spread: 0.01, seeds: 5 };
  return {
    ...{ v: 1, time: start, step, final: step === steps, snapshot: nothing, submission: null, stale: false },
    ...{ grader: 'bench', valid: true, score: 0.5 + ((step * 7 + seed * 13) % 100) / 500, baseline: 0.55 },
    ...{ direction: 'maximize', threshold: 0.1, problems: [], details: {}, seconds: 1, caveats: [] },
    figures: { baseline: figures, reference: { ...figures, mean: 0.7 }, best: 1 },
  };
}

function writeRecord(run: RunFolder, spec: RunSpec, steps: number): void {
  run.writeRecordSync({
    ...{
      v: 1,
      spec,
      status: 'finished',
      end: { reason: 'final_answer', message: '' },
      versions: {},
      host: {},
    },
    ...{ pid: null, started: start, updated: start, steps, seconds_used: steps },
  });
}

/** Bytes of all traces, for the note of a measurement. */
export function traceBytes(experiment: Experiment): number {
  return experiment.runIds.reduce(
    (sum, id) => sum + readFileSync(join(experiment.runFolder(id).folder, 'trace.jsonl')).length,
    0,
  );
}
