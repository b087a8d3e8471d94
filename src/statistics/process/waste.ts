import type { ProcessMetrics } from '../../schema/index.ts';
import type { RunTranscript, TranscriptStep } from './run-transcript.ts';
import { changedWork, editedFile, isAside, isEdit, isRepl, isUndo, ran } from './steps.ts';

export function waste(transcript: RunTranscript): ProcessMetrics['waste'] {
  const { steps } = transcript;
  const edits = steps.filter(isEdit);
  const executions = steps.filter(ran);
  return {
    repeated_actions: repeatedActions(transcript).length,
    edits: edits.length,
    edits_never_executed: edits.filter((edit) => !wasExecuted(edit, transcript)).length,
    no_op_edits: edits.filter((edit) => !changedWork(edit)).length,
    format_errors: formatErrorCount(transcript),
    edit_to_execute_ratio: executions.length === 0 ? null : edits.length / executions.length,
  };
}

/**
 * Steps that repeated an earlier one after which nothing but the agent's log had changed. Excludes its log, its budget,
 * and an interpreter, whose variables are in no file.
 */
export function repeatedActions({ steps }: RunTranscript): TranscriptStep[] {
  let done = new Set<string>();
  return steps.filter((step) => {
    const name = JSON.stringify([step.action, Object.entries(step.args).toSorted()]);
    const isRepeated = done.has(name) && !isAside(step) && !isRepl(step);
    if (changedWork(step)) done = new Set();
    // A script's own output is no reason to run it again.
    if (!changedWork(step) || ran(step)) done.add(name);
    return isRepeated;
  });
}

/** Replies without a usable action, and steps that the environment rejected for their form. */
export function formatErrorCount({ formatErrors, steps }: RunTranscript): number {
  // A reply that could not be parsed may have been passed on as an invalid action: it counts once.
  const noted = new Set(formatErrors.map(({ afterStep }) => afterStep + 1));
  return (
    formatErrors.length + steps.filter(({ step, status }) => status === 'invalid' && !noted.has(step)).length
  );
}

/** Whether a later execution could run what the edit wrote, before it was undone. */
function wasExecuted(edit: TranscriptStep, { steps }: RunTranscript): boolean {
  const file = editedFile(edit);
  const later = steps.slice(steps.indexOf(edit) + 1);
  const takenBack = later.findIndex((step) => isUndo(step) && editedFile(step) === file);
  const executions = later.slice(0, takenBack < 0 ? undefined : takenBack).filter(ran);
  const script = /(?<![^/])([^/]+)\.(?:py|sh)$/.exec(file ?? '');
  // Any script may read data and settings.
  if (script === null) return executions.length > 0;
  const [name, module = ''] = [script[0], script[1]];
  return (
    executions.some((step) => JSON.stringify(step.args).includes(name)) ||
    (executions.length > 0 && isImported(module, steps))
  );
}

/** No file system has longer names, and a pattern may not be much longer. */
const longestName = 255;

/** Whether any text of the run imports the module. */
function isImported(module: string, steps: readonly TranscriptStep[]): boolean {
  if (module.length > longestName) return false;
  const words = module.replace(/[^\w]/g, '.');
  const pattern = new RegExp(`\\b(?:import|from)\\s+(?:[\\w.]+\\.)?${words}\\b`);
  return steps.some(
    ({ observation, args }) => pattern.test(observation) || pattern.test(JSON.stringify(args)),
  );
}
