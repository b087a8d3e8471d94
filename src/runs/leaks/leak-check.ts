import type { TaskResources } from '../workspace.ts';

/** The result of a leak check. */
export interface LeakCheckReport {
  check: string;
  summary: string;
  /** `not_run` if the task or this machine's data gives nothing to check; the notes say why. */
  outcome: 'ok' | 'leaks' | 'not_run';
  /** What is wrong, where, and what to do; empty unless it leaks. */
  faults: string[];
  /** What was searched, what was found and is allowed, and what could not be searched. */
  notes: string[];
  seconds: number;
}

export type LeakFindings = Pick<LeakCheckReport, 'faults' | 'notes'> & { notRun?: boolean };

export interface LeakCheck {
  name: string;
  /** One sentence. */
  summary: string;
}

export const leakChecks = [
  {
    name: 'hidden-values',
    summary:
      'looks for hidden values in the data, the starter and the packages, in any encoding, order or file',
  },
  {
    name: 'row-order',
    summary: 'predicts hidden values from row order, ids, and names, sizes and times of files alone',
  },
  {
    name: 'same-data',
    summary: 'prepares the data again under other conditions: the bytes must be the same',
  },
  { name: 'reference-score', summary: "compares the oracle's score with the reference of task.yaml" },
  {
    name: 'baseline-score',
    summary: 'compares the score of the agent baseline (or constant) with the baseline of task.yaml',
  },
  {
    name: 'row-shuffle',
    summary: "grades the oracle's CSV files with their rows in another order: the score must be the same",
  },
] as const satisfies readonly LeakCheck[];

export type LeakCheckName = (typeof leakChecks)[number]['name'];

export function leakReport(
  name: LeakCheckName,
  { faults, notes, notRun }: LeakFindings,
  seconds: number,
): LeakCheckReport {
  const summary = leakChecks.find((check) => check.name === name)?.summary ?? '';
  const outcome = faults.length > 0 ? 'leaks' : notRun === true ? 'not_run' : 'ok';
  return { check: name, summary, outcome, faults, notes, seconds };
}

/**
 * How much the score of one more run may differ: by four spreads, and by what other versions of packages may change.
 */
const maxSpreads = 4;
const minShare = 0.02;

/** Compares the score of one run of the reference solution, or of the baseline, with its figures in task.yaml. */
export function compareWithFigures(
  { task }: TaskResources,
  part: 'baseline' | 'reference',
  { agent, score }: { agent: string; score: number | null },
): LeakFindings {
  const { mean, spread, seeds } = task.file[part];
  if (score === null) return { faults: [], notes: [`the agent ${agent} has no score`], notRun: true };
  if (/second|ms\b/i.test(task.file.metric.unit) || /time/i.test(task.file.metric.name)) {
    return { faults: [], notes: ['times depend on the machine'], notRun: true };
  }
  if (task.figures !== 'declared') {
    return { faults: [], notes: [`the ${part} was measured on other data`], notRun: true };
  }
  const tolerance = Math.max(
    maxSpreads * spread * Math.sqrt(1 + 1 / Math.max(1, seeds)),
    minShare * Math.abs(mean),
  );
  const said = `the agent ${agent} scored ${rounded(score)}, and task.yaml says ${mean} ± ${spread}`;
  if (Math.abs(score - mean) <= tolerance) return { faults: [], notes: [said] };
  if (seeds === 1 && agent !== 'constant')
    return { faults: [], notes: [`${said}, by one seed, which shows no spread`], notRun: true };
  const flag = part === 'reference' ? ' --reference' : '';
  return {
    faults: [
      `${said}: further away than ${rounded(tolerance)}. Measure it again: mlab tasks baseline ${task.file.id}` +
        `${flag} --write; if the data or the grader has changed, so has what results mean.`,
    ],
    notes: [],
  };
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
