import { join } from 'node:path';
import { z } from 'zod';
import { mountPoints } from '../../environment/index.ts';
import { type GradeRunOptions, gradeRun, graderFor, gradeWorkspace } from '../../grading/index.ts';
import { UserError } from '../../lib/errors.ts';
import type { Grade, ObjectId, RunSpec, Verdict, Verification } from '../../schema/index.ts';
import { reproductionOf } from '../../statistics/index.ts';
import {
  historyOf,
  ObjectStore,
  parseStoredText,
  type RunFolder,
  readSnapshot,
  readTraceSync,
  resolveText,
  Snapshotter,
  snapshotsByStep,
  stepsOf,
} from '../../store/index.ts';
import type { TaskResources } from '../workspace.ts';
import { finalWork, type RunEnd } from './final-work.ts';
import type { Rerun, WorkStep } from './rerun.ts';
import { VerificationSandbox } from './verification-sandbox.ts';

export interface VerifyRunOptions {
  folder: RunFolder;
  resources: TaskResources;
  helpersFolder: string;
  /** How often to run the code again; several repeats show its noise. */
  repeats: number;
  threads: number;
  versions: Record<string, string>;
  /** The container engine's command; default: docker. */
  dockerCommand?: string | undefined;
  toolModel?: GradeRunOptions['toolModel'];
  /** As many as the run had; default: none. */
  gpus?: GradeRunOptions['gpus'];
  signal: AbortSignal;
  onProgress: (line: string) => void;
}

/** The result of one way of making the submission again. */
type Finding = Pick<Verification, 'verdict' | 'reason' | 'executed' | 'scores' | 'noise'>;

/**
 * Runs the final training code of a finished run again, in a verification sandbox, and compares the grade of the new
 * submission with the old one. The verification is appended to the run's `verifications.jsonl` and returned.
 * @throws UserError `not_finished`; GraderFailed, SandboxError; then nothing was appended
 */
export async function verifyRun(options: VerifyRunOptions): Promise<Verification> {
  const { folder, versions } = options;
  const record = folder.readRecord();
  if (record?.status !== 'finished') {
    throw new UserError(
      'not_finished',
      `The run ${folder.id} has not finished, so there is nothing to verify.`,
      'Resume it first, with the mlab run command of its experiment.',
    );
  }
  folder.checkWritable();
  const start = performance.now();
  const end = endOf(folder, options.resources);
  const [grade] = end === null ? [] : await gradeRun({ ...graded(options), folder, which: 'final' });
  const found = await findingOf(record.spec, end, grade, options);
  const verification: Verification = {
    ...{ v: 1, time: Date.now(), snapshot: end?.snapshot ?? null, submission: grade?.submission ?? null },
    ...found,
    score: grade?.score ?? null,
    seconds: (performance.now() - start) / 1000,
    versions,
  };
  await folder.writeResults(record, options.signal, () => folder.appendVerification(verification));
  return verification;
}

function graded({ resources, helpersFolder, dockerCommand, toolModel, gpus, signal }: VerifyRunOptions) {
  return { ...resources, helpersFolder, dockerCommand, toolModel, gpus, signal };
}

function endOf(folder: RunFolder, { task }: TaskResources): RunEnd | null {
  const events = historyOf(readTraceSync(folder.tracePath).events);
  const last = events.findLast((event) => event.kind === 'run_ended');
  if (last?.snapshot == null) return null;
  const snapshots = snapshotsByStep(events);
  const steps = stepsOf(events).map(({ step, performed, finished }): WorkStep => {
    const { changed, changed_count: changedCount, snapshot, submission } = finished;
    const args = argumentsOf(resolveText(folder.objects, performed.args));
    const wroteSubmission = submission.written_at_step === step;
    const before = snapshots.get(step - 1) ?? snapshot;
    return { step, action: performed.action, args, changed, changedCount, wroteSubmission, before, snapshot };
  });
  return {
    steps,
    snapshot: last.snapshot,
    writtenAt: last.submission?.written_at_step ?? null,
    submissionFiles: task.brief.submission.files.map(({ path }) => path),
    entry: task.brief.entry,
  };
}

function argumentsOf(text: string): Record<string, unknown> {
  const value = parseStoredText(z.unknown(), text, 'the arguments of an action in the trace');
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

async function findingOf(
  spec: RunSpec,
  end: RunEnd | null,
  grade: Grade | undefined,
  options: VerifyRunOptions,
): Promise<Finding> {
  if (end === null || grade === undefined || grade.score === null) {
    const problem = grade?.problems[0]?.message;
    return finding('nothing_to_verify', `It has no valid submission${problem ? `: ${problem}` : '.'}`);
  }
  const { files } = options.resources.task.file.submission;
  if (files.every(({ format }) => format === 'python'))
    return gradedAgain(spec, end.snapshot, grade, options);
  return madeAnew(spec, end, grade, options);
}

function finding(verdict: Verdict, reason: string, more: Partial<Finding> = {}): Finding {
  return { verdict, reason, executed: [], scores: [], noise: null, ...more };
}

/** For submitted code, grading is what runs it, so grading again is the verification. */
async function gradedAgain(
  spec: RunSpec,
  snapshot: ObjectId,
  grade: Grade,
  options: VerifyRunOptions,
): Promise<Finding> {
  const { objects } = options.folder;
  const { entries } = readSnapshot(objects, snapshot);
  const scores: (number | null)[] = [];
  for (let repeat = 0; repeat < options.repeats; repeat += 1) {
    options.onProgress('grades the submitted code again');
    const { result } = await gradeWorkspace({ entries, objects }, graderFor(spec, graded(options)));
    scores.push(result.score);
  }
  return judged('The submission is code, which grading runs: graded again, it', grade, scores, [], options);
}

/** Tries one way after another until one reproduces the score. */
async function madeAnew(
  spec: RunSpec,
  end: RunEnd,
  grade: Grade,
  options: VerifyRunOptions,
): Promise<Finding> {
  const { folder, resources, helpersFolder, threads, dockerCommand, toolModel, signal, onProgress } = options;
  using sandbox = new VerificationSandbox({
    ...{ folder, spec, resources, helpersFolder, threads, dockerCommand, toolModel, signal, onProgress },
  });
  const work = finalWork(folder, end);
  let best: Finding | null = null;
  for (const way of work.ways) {
    const found = await tryWay(way, { sandbox, end, products: work.products, grade, spec, options });
    if (best === null || rank(found) < rank(best)) best = found;
    if (rank(best) <= rank('within_noise')) break;
  }
  if (best === null) throw new Error('there is always one way');
  return best;
}

const ranks: readonly Verdict[] = ['reproduced', 'within_noise', 'not_reproduced', 'could_not_run'];

function rank(found: Finding | Verdict): number {
  return ranks.indexOf(typeof found === 'string' ? found : found.verdict);
}

interface Trial {
  sandbox: VerificationSandbox;
  end: RunEnd;
  products: readonly string[];
  grade: Grade;
  spec: RunSpec;
  options: VerifyRunOptions;
}

async function tryWay(way: readonly Rerun[], trial: Trial): Promise<Finding> {
  const { sandbox, end, products, grade, spec, options } = trial;
  const executed = way.map(({ step, command }) => ({ step, command }));
  const scores: (number | null)[] = [];
  for (let repeat = 0; repeat < options.repeats; repeat += 1) {
    await sandbox.prepare(end.snapshot, products);
    const ran = await sandbox.run(way);
    const objects = new ObjectStore(join(sandbox.place, 'objects'));
    using snapshotter = new Snapshotter(objects, sandbox.workspace);
    const { id } = await snapshotter.take({
      ignore: mountPoints,
      maxBytes: spec.limits.workspace_mb * 2 ** 20,
      first: end.submissionFiles,
      signal: options.signal,
    });
    const { entries } = readSnapshot(objects, id);
    const again = await gradeWorkspace({ entries, objects }, graderFor(spec, graded(options)));
    if (again.submission === null) {
      const how =
        ran === null ? 'nothing ran' : `${howItEnded(ran.end)}; it printed last: ${tail(ran.printed)}`;
      return finding('could_not_run', `Run again, it made no submission: ${how}`, { executed });
    }
    if (again.submission === grade.submission) {
      const reason = 'Run again, it makes the same submission, byte for byte.';
      return finding('reproduced', reason, { executed, scores: [...scores, grade.score] });
    }
    scores.push(again.result.score);
  }
  return judged('Run again, it', grade, scores, executed, options);
}

function judged(
  subject: string,
  grade: Grade,
  scores: readonly (number | null)[],
  executed: Finding['executed'],
  { resources }: VerifyRunOptions,
): Finding {
  const valid = scores.filter((score) => score !== null);
  const shown = scores.map((score) => score ?? 'nothing valid').join(', ');
  if (grade.score === null || valid.length < scores.length) {
    const reason = `${subject} scores ${shown}; the run scored ${grade.score}.`;
    return finding('not_reproduced', reason, { executed, scores: [...scores] });
  }
  const { baseline } = grade.figures ?? resources.task.file;
  const { verdict, noise } = reproductionOf(grade.score, valid, baseline);
  const limit = noise === null ? 'no spread is known' : `chance makes differences up to ${rounded(noise)}`;
  const reason = `${subject} scores ${shown}; the run scored ${grade.score}, and ${limit}.`;
  return finding(verdict, reason, { executed, scores: [...scores], noise });
}

function howItEnded({
  ending,
  exitCode,
  signal,
}: {
  ending: string;
  exitCode: number | null;
  signal: string | null;
}) {
  if (ending !== 'exited') return ending.replaceAll('_', ' ');
  return exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${exitCode}`;
}

function tail(printed: string): string {
  return printed.trimEnd().split('\n').slice(-3).join(' | ') || '(nothing)';
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}
