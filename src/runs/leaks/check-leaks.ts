import { performance } from 'node:perf_hooks';
import { messageOf } from '../../lib/errors.ts';
import type { RunFolder } from '../../store/index.ts';
import { type PrepareOptions, prepareAgain } from '../../tasks/index.ts';
import { type FindLeaksOptions, findLeaks } from './find-leaks.ts';
import {
  compareWithFigures,
  type LeakCheckName,
  type LeakCheckReport,
  type LeakFindings,
  leakReport,
} from './leak-check.ts';
import { gradeShuffled, type RowShuffleOptions } from './row-shuffle.ts';

export interface CheckLeaksOptions extends FindLeaksOptions {
  checks: readonly LeakCheckName[];
  /** How the data was prepared, for preparing it a second time. */
  preparation: PrepareOptions;
  /** Absent if the oracle was not run. */
  oracle: { score: number | null; folder: RunFolder } | undefined;
  /** Of the agent that is the task's baseline; absent if it was not run. */
  baseline: { agent: string; score: number | null } | undefined;
  gpus?: RowShuffleOptions['gpus'];
  onReport: (report: LeakCheckReport) => void;
}

/** Data that takes longer to prepare is not prepared a second time. */
const maxPreparationMs = 300_000;

/** Searches for ways to a task's hidden values that need nothing forbidden. */
export async function checkLeaks(options: CheckLeaksOptions): Promise<LeakCheckReport[]> {
  const reports: LeakCheckReport[] = [];
  const wants = (name: LeakCheckName) => options.checks.includes(name);
  const add = (name: LeakCheckName, findings: LeakFindings, start: number) => {
    const report = leakReport(name, findings, (performance.now() - start) / 1000);
    reports.push(report);
    options.onReport(report);
  };
  if (wants('hidden-values') || wants('row-order')) {
    const start = performance.now();
    const { values, order } = await search(options);
    if (wants('hidden-values')) add('hidden-values', values, start);
    if (wants('row-order')) add('row-order', order, start);
  }
  options.signal.throwIfAborted();
  if (wants('same-data')) {
    const start = performance.now();
    add('same-data', await compareWithSecond(options), start);
  }
  options.signal.throwIfAborted();
  const { oracle, baseline, resources } = options;
  if (baseline !== undefined && wants('baseline-score'))
    add('baseline-score', compareWithFigures(resources, 'baseline', baseline), performance.now());
  if (oracle === undefined) return reports;
  if (wants('reference-score')) {
    const { score } = oracle;
    const findings = compareWithFigures(resources, 'reference', { agent: 'oracle', score });
    add('reference-score', findings, performance.now());
  }
  if (wants('row-shuffle')) {
    const start = performance.now();
    add('row-shuffle', await gradeShuffled({ ...options, folder: oracle.folder }), start);
  }
  return reports;
}

/** An interrupted search has shown nothing: it counts as a fault, and the other checks continue. */
async function search(options: FindLeaksOptions): ReturnType<typeof findLeaks> {
  try {
    return await findLeaks(options);
  } catch (error) {
    options.signal.throwIfAborted();
    const broken = { faults: [`it could not be run: ${messageOf(error)}`], notes: [] };
    return { values: broken, order: broken };
  }
}

async function compareWithSecond(options: CheckLeaksOptions): Promise<LeakFindings> {
  const { resources, preparation } = options;
  const { task, prepared } = resources;
  const tooLong = AbortSignal.timeout(maxPreparationMs);
  const signal = AbortSignal.any([options.signal, tooLong]);
  try {
    const differences = await prepareAgain(task, prepared, { ...preparation, signal });
    const count = prepared.manifest.files.length;
    if (count === 0) return { faults: [], notes: ['the task has no data'], notRun: true };
    const files = count === 1 ? 'the one file is' : `all ${count} files are`;
    if (differences.length === 0) return { faults: [], notes: [`${files} the same again`] };
    const more = differences.length > 3 ? `; and ${differences.length - 3} more` : '';
    return {
      faults: [
        `prepared a second time, ${differences.slice(0, 3).join('; ')}${more}. Let nothing in prepare.py depend on the ` +
          'clock, on unseeded random numbers, on the order of sets and of listed folders, or on the umask.',
      ],
      notes: [],
    };
  } catch (error) {
    if (options.signal.aborted) throw error;
    const why = tooLong.aborted
      ? `it takes more than ${maxPreparationMs / 60_000} minutes`
      : messageOf(error);
    return { faults: [], notes: [`the data could not be prepared a second time: ${why}`], notRun: true };
  }
}
