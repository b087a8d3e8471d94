import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Action } from '../src/schema/index.ts';
import { readTraceSync, stepsOf } from '../src/store/index.ts';
import { type BenchRun, type BenchRunOptions, openBenchRun } from './bench-run.ts';
import { type BenchContext, type Benchmark, type Measurement, median, quantile } from './benchmark.ts';
import { provision } from './task-resources.ts';

/** Steps that are measured: around step 50, and as many around step 5,000. */
const window = { first: 26, count: 50 };
const late = 5_000;

/** The cost of a step itself, in ms: measured from outside, and as recorded by the environment. */
interface Cost {
  action: string;
  outside: number;
}

export const step: Benchmark = {
  name: 'step',
  summary: "a step's own cost in a small workspace, early and late in a run",
  async measure(context) {
    const lateStep = context.quick ? 300 : late;
    const rounds = context.quick ? 2 : 8;
    const resources = await provision(context.cache, context.signal);
    const open = (name: string) => openBenchRun({ ...optionsFor(context, name), resources });
    {
      // Otherwise the code would be compiled during the early steps, which would favour the late ones.
      await using warm = await open('warm-up');
      await act(warm, 1, context.quick ? 100 : 1_000);
    }
    await using long = await open('long');
    context.log(`going to step ${lateStep}`);
    const own = await act(long, 1, lateStep - (window.count * rounds) / 2);
    const early: Cost[] = [];
    const later: Cost[] = [];
    for (let round = 0; round < rounds; round++) {
      await using fresh = await open(`fresh-${round}`);
      await act(fresh, 1, window.first - 1);
      // Alternating, so that other load of the machine affects both equally.
      for (let count = 0; count < window.count; count += 5) {
        early.push(...(await act(fresh, fresh.environment.stepsTaken + 1, 5)));
        later.push(...(await act(long, long.environment.stepsTaken + 1, 5)));
      }
    }
    return measurementsOf(own, early, later, lateStep, await notedBy(long, lateStep));
  },
};

function optionsFor({ scratch, signal }: BenchContext, name: string): Omit<BenchRunOptions, 'resources'> {
  return { folder: join(scratch, name), sandbox: 'none', fill: addFiles, signal };
}

/** With the starter script: five files. */
function addFiles(workspace: string): void {
  for (const name of ['notes.txt', 'helpers.py', 'README.md', 'settings.json']) {
    writeFileSync(join(workspace, name), `${name}: a short file\n`.repeat(20));
  }
}

/** Takes steps of all kinds that need no process, in turn. */
async function act({ environment }: BenchRun, from: number, count: number): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (let number = from; number < from + count; number++) {
    const action = cheapAction(number);
    const start = performance.now();
    const { durationMs } = await environment.step(action);
    costs.push({ action: action.name, outside: performance.now() - start - durationMs });
  }
  return costs;
}

function cheapAction(number: number): Action {
  const actions: Action[] = [
    { name: 'Read File', args: { file_name: 'train.py' } },
    { name: 'Write File', args: { file_name: 'notes.txt', content: `what I saw in step ${number}\n` } },
    { name: 'Read File', args: { file_nam: 'train.py' } },
    { name: 'List Files', args: { dir_path: '.' } },
    { name: 'Check Budget', args: {} },
  ];
  return actions[number % actions.length] ?? { name: 'Check Budget', args: {} };
}

/** The costs of the late steps, from the trace. */
async function notedBy({ folder }: BenchRun, lateStep: number): Promise<number[]> {
  return stepsOf(readTraceSync(folder.tracePath).events)
    .filter(({ step: number }) => number > lateStep - window.count)
    .map(({ finished }) => finished.overhead_ms);
}

function measurementsOf(
  own: readonly Cost[],
  early: readonly Cost[],
  later: readonly Cost[],
  lateStep: number,
  noted: readonly number[],
): Measurement[] {
  const at50 = median(early.map(({ outside }) => outside));
  const atLate = median(later.map(({ outside }) => outside));
  const writing = later.filter(({ action }) => action === 'Write File').map(({ outside }) => outside);
  const all = own.map(({ outside }) => outside);
  const common = { unit: 'ms', atMost: null };
  return [
    {
      ...{ what: 'own cost around step 50', value: at50, unit: 'ms', atMost: 0.1 },
      note: `median of ${early.length} steps, timed around the call, less the action's own work`,
    },
    {
      ...{ what: `own cost around step ${lateStep}`, value: atLate, unit: 'ms', atMost: 0.1 },
      note: `median of ${later.length} steps, taken in turns with those around step 50`,
    },
    { what: `step ${lateStep} against step 50`, value: atLate / at50, unit: 'times', atMost: 1.2, note: '' },
    {
      what: `the same around step ${lateStep} as the trace notes it`,
      value: median(noted),
      ...common,
      note: 'overhead_ms',
    },
    {
      ...{ what: 'the last fifth of one run against its second', value: withinRun(all), unit: 'times' },
      ...{ atMost: null, note: `of ${all.length} steps; fresh runs have not yet made their folders` },
    },
    { what: 'of a step that writes a file', value: median(writing), ...common, note: 'three objects more' },
    {
      what: 'the slowest of a hundred',
      value: quantile(all, 0.99),
      ...common,
      note: `of ${all.length} steps`,
    },
  ];
}

/** Later steps of one run against earlier ones, medians; without its beginning. */
function withinRun(costs: readonly number[]): number {
  const fifth = Math.floor(costs.length / 5);
  return median(costs.slice(-fifth)) / median(costs.slice(fifth, 2 * fifth));
}
