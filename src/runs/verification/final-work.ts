import type { ObjectId, SnapshotEntry } from '../../schema/index.ts';
import { isExecution, typesInto } from '../../statistics/index.ts';
import { type RunFolder, readSnapshot } from '../../store/index.ts';
import { type Rerun, rerunOf, type WorkStep } from './rerun.ts';

/** The work of a run, analysed: what its agent wrote, what its code made, and what made the submission. */
export interface FinalWork {
  /** Files of the final workspace that the agent's code made; all others are the starter's or the agent's own. */
  products: string[];
  /** Ways to make the submission again, the most direct one first; each is a sequence to run in one workspace. */
  ways: Rerun[][];
}

/** Files of code and settings are the agent's own, even if a command wrote them. */
const ownFile = /\.(?:py|sh|ipynb|toml|ya?ml|cfg|ini)$/;

/** The end of a run, from its trace. */
export interface RunEnd {
  steps: readonly WorkStep[];
  /** The final workspace. */
  snapshot: ObjectId;
  /** The step that wrote the submission last; null if none did. */
  writtenAt: number | null;
  submissionFiles: readonly string[];
  /** The task's entry script. */
  entry: string;
}

/**
 * Analyses a run's end by its trace. The first way is only the execution that wrote the submission last. The second is
 * every execution that wrote a product, each command once, where it was last run. Commands that write a text to a file,
 * and inline code that touched the submission, are not training code and are left out of the second. If the trace names
 * nothing, the entry script is the only way.
 */
export function finalWork(
  folder: RunFolder,
  { steps, snapshot, writtenAt, submissionFiles, entry }: RunEnd,
): FinalWork {
  const changes = changesBy(folder, steps, submissionFiles);
  const makers = steps.filter((step) => {
    const changed = changes.get(step.step) ?? [];
    return isMaker(step) && changed.some((path) => !ownFile.test(path) && !isTyped(step, path));
  });
  const last = makers.find(({ step }) => step === writtenAt);
  const direct = last === undefined ? [] : rerunOf(last, steps);
  const touches = ({ step }: WorkStep) =>
    (changes.get(step) ?? []).some((path) => submissionFiles.includes(path));
  const all = eachOnce(makers.filter((step) => !(isInline(step) && touches(step)))).flatMap((step) =>
    rerunOf(step, steps),
  );
  const ways = [direct, all].filter((way) => way.length > 0);
  const start: Rerun = { step: null, command: `python ${entry}`, argv: ['python', entry] };
  return {
    products: productsOf(steps, changes, readSnapshot(folder.objects, snapshot).entries, submissionFiles),
    ways: ways.length === 0 ? [[start]] : different(ways),
  };
}

/** Whether a step may have made something by code, or copied what code made. */
function isMaker({ action }: WorkStep): boolean {
  return isExecution(action) || action === 'Copy File';
}

function isTyped({ args, action }: WorkStep, path: string): boolean {
  return action === 'Run Command' && typesInto(String(args.command), path);
}

/** Code that is only in the trace, in no file. */
function isInline({ action, args }: WorkStep): boolean {
  if (action === 'Python REPL') return true;
  if (action !== 'Run Command') return false;
  return /\b(?:python[\d.]*|perl|ruby|node|sh|bash)\s+(?:-\w+\s+){0,20}-\w*[ce]\b|<<|\bsed\s+-|\bawk\b/.test(
    String(args.command),
  );
}

/** A repeated command counts where it was last run. */
function eachOnce(steps: readonly WorkStep[]): WorkStep[] {
  const nameOf = ({ action, args }: WorkStep) => JSON.stringify([action, args]);
  const last = new Map(steps.map((step) => [nameOf(step), step.step]));
  return steps.filter((step) => last.get(nameOf(step)) === step.step);
}

function different(ways: readonly Rerun[][]): Rerun[][] {
  return [...new Map(ways.map((way) => [JSON.stringify(way), way])).values()];
}

/** The paths that each step wrote; found by comparing workspaces if the trace lists only the first of many. */
function changesBy(
  folder: RunFolder,
  steps: readonly WorkStep[],
  submissionFiles: readonly string[],
): Map<number, readonly string[]> {
  return new Map(
    steps.map((step) => {
      const wrote = step.wroteSubmission ? submissionFiles : [];
      const isWhole = step.changedCount <= step.changed.length;
      return [step.step, [...wrote, ...(isWhole ? step.changed : difference(folder, step))]];
    }),
  );
}

function difference(folder: RunFolder, { before, snapshot }: WorkStep): string[] {
  const was = contentsOf(folder, before);
  const is = contentsOf(folder, snapshot);
  return [...is.keys()].filter((path) => is.get(path) !== was.get(path));
}

function contentsOf(folder: RunFolder, snapshot: ObjectId): Map<string, string> {
  const { entries } = readSnapshot(folder.objects, snapshot);
  return new Map(entries.flatMap((entry) => ('object' in entry ? [[entry.path, entry.object]] : [])));
}

function productsOf(
  steps: readonly WorkStep[],
  changes: ReadonlyMap<number, readonly string[]>,
  final: readonly SnapshotEntry[],
  submissionFiles: readonly string[],
): string[] {
  const made = new Set<string>(submissionFiles.filter((path) => !ownFile.test(path)));
  for (const step of steps) {
    for (const path of changes.get(step.step) ?? []) {
      if (submissionFiles.includes(path)) continue;
      if (isMaker(step) && !ownFile.test(path) && !isTyped(step, path)) made.add(path);
      else made.delete(path);
    }
  }
  return final.flatMap((entry) => (made.has(entry.path) && !('folder' in entry) ? [entry.path] : []));
}
