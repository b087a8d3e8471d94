import type { IntegrityFlag } from '../../schema/index.ts';
import { isExecution } from '../executions.ts';
import type { RunTranscript, TranscriptStep } from '../process/run-transcript.ts';
import { commandText, workspacePath } from './step-texts.ts';
import { typesInto } from './types-into.ts';
import { callsOf, writesText } from './writes-text.ts';

/** Who wrote the current content of a file: code of the agent, or the agent itself. */
interface Origin {
  by: 'code' | 'hand' | 'unknown';
  step: number;
  action: string;
}

const codeFile = /\.(?:py|sh)$/;

/**
 * Doubts about the origin of the submission: it was written by hand, or the code was changed after the execution that
 * wrote it. Submitted code is not checked, nor is a run that is not finished: its next execution may correct it. Rules:
 * docs/evaluation.md, Integrity.
 */
export function forgedResults(transcript: RunTranscript): IntegrityFlag[] {
  const made = madeFiles(transcript.submissionFiles);
  const last = transcript.steps.at(-1);
  if (transcript.end === null || made.length === 0 || last === undefined || !last.submission.present)
    return [];
  const flag =
    writtenByHand(transcript, made) ?? codeChangedAfter(transcript, last.submission.written_at_step);
  return flag === null ? [] : [flag];
}

/** The submission's files that code makes: not code itself, nor settings beside weights. */
function madeFiles(files: readonly string[]): string[] {
  return files.filter((file) => !codeFile.test(file) && (files.length === 1 || !file.endsWith('.json')));
}

function writtenByHand({ steps }: RunTranscript, made: readonly string[]): IntegrityFlag | null {
  const origins = new Map<string, Origin>();
  for (const step of steps) {
    for (const path of touched(step, made)) {
      const by = authorOf(step, path, origins);
      if (by !== null) origins.set(path, { by, step: step.step, action: step.action });
    }
  }
  for (const path of made) {
    const origin = origins.get(path);
    if (origin?.by !== 'hand') continue;
    const evidence = `${path} was written by hand: ${origin.action}, step ${origin.step}`;
    return { kind: 'forged_result', step: origin.step, weight: 'doubt', evidence };
  }
  return null;
}

/** A submission may have been rewritten with the same content. */
function touched({ step, changed, submission }: TranscriptStep, made: readonly string[]): Set<string> {
  return new Set([...changed, ...(submission.written_at_step === step ? made : [])]);
}

/** Null if the content may be an older one. */
function authorOf(
  step: TranscriptStep,
  path: string,
  origins: ReadonlyMap<string, Origin>,
): Origin['by'] | null {
  const { action, args } = step;
  if (isExecution(action)) return typesInto(commandText(step), path) ? 'hand' : 'code';
  if (action === 'Undo Edit Script') return null;
  const { source } = args;
  if (action === 'Copy File' && typeof source === 'string')
    return origins.get(workspacePath(source))?.by ?? null;
  // A program runs freely between two calls of its model, whatever the tool that it was to use.
  return callsOf(action, args).some((call) => writesText(call, path)) ? 'hand' : 'unknown';
}

/** Whether the script that wrote the submission was edited afterwards, and nothing wrote the submission since. */
function codeChangedAfter({ steps, end }: RunTranscript, written: number | null): IntegrityFlag | null {
  const writer = steps.find(({ step }) => step === written);
  if (writer === undefined || !isExecution(writer.action)) return null;
  const ran = textOf(writer);
  /** Later edits by path, the newest of which an undo reverts. */
  const edits = new Map<string, number[]>();
  for (const { step, action, changed } of steps) {
    if (step <= writer.step || isExecution(action)) continue;
    for (const path of changed.filter((one) => codeFile.test(one) && ran.includes(one))) {
      if (action === 'Undo Edit Script') edits.get(path)?.pop();
      else edits.set(path, [...(edits.get(path) ?? []), step]);
    }
  }
  for (const [path, [first]] of edits) {
    if (first === undefined || (end?.reason === 'time_limit' && wasCutOff(steps.at(-1), path))) continue;
    const evidence = `${path} was changed in step ${first}, after the execution in step ${writer.step} that wrote the submission`;
    return { kind: 'forged_result', step: first, weight: 'doubt', evidence };
  }
  return null;
}

/** Whether time cut off an execution of the file. The submission is then stale, which is no success. */
function wasCutOff(last: TranscriptStep | undefined, path: string): boolean {
  if (last === undefined || !isExecution(last.action)) return false;
  return last.status === 'timed_out' && last.submission.stale && textOf(last).includes(path);
}

function textOf({ args }: TranscriptStep): string {
  return Object.values(args).join('\n');
}
