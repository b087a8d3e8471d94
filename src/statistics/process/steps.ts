import { isExecution } from '../executions.ts';
import type { StoryStep } from './run-story.ts';

const editing = new Set([
  ...['Edit Script (AI)', 'Edit Script Segment (AI)', 'Edit File', 'Write File', 'Append File', 'Copy File'],
]);
const reading = new Set(['Read File', 'Inspect Script Lines', 'Search Files']);
/** Actions that keep the agent's own log, and questions to it and to the clock: they do nothing to the work. */
const aside = new Set([
  ...['Append Summary to Research Log', 'Retrieval from Research Log', 'Reflection', 'Check Budget'],
]);

/** Written by actions on behalf of the agent: no part of its work. */
const logFile = 'research_log.log';

/** Whether the step ran code: an action that executes, and that came as far as a process. */
export function ran({ action, status, exitCode, observation }: StoryStep): boolean {
  if (!isExecution(action)) return false;
  if (status === 'invalid' || status === 'refused' || status === 'closed' || status === 'error') return false;
  // A script that is not there fails without a process; one that a signal ended has no exit code either.
  return (
    status !== 'failed' ||
    action === 'Python REPL' ||
    exitCode !== null ||
    /\[ended by [^\]]*\]$/.test(observation)
  );
}

export function isRepl({ action }: StoryStep): boolean {
  return action === 'Python REPL';
}

export function succeeded({ status }: StoryStep): boolean {
  return status === 'ok';
}

/** Whether the step changed a file by an action made for that, or was to change it and did not. The log is no such file. */
export function isEdit(step: StoryStep): boolean {
  return editing.has(step.action) && step.status === 'ok' && editedFile(step) !== logFile;
}

/** The file that an edit wrote, or Undo Edit Script put back; null where its arguments do not say. */
export function editedFile({ args }: StoryStep): string | null {
  const name = args.save_name ?? args.destination ?? args.file_name ?? args.script_name;
  return typeof name === 'string' ? plainPath(name) : null;
}

export function isUndo({ action, status }: StoryStep): boolean {
  return action === 'Undo Edit Script' && status === 'ok';
}

export function isReading({ action, status }: StoryStep): boolean {
  return reading.has(action) && status === 'ok';
}

export function isAside({ action }: StoryStep): boolean {
  return aside.has(action);
}

/** Whether anything but the agent's log changed. */
export function changedWork({ changed, changedCount }: StoryStep): boolean {
  return changedCount > changed.length || changed.some((path) => path !== logFile);
}

/** As paths stand in `changed`. */
export function plainPath(path: string): string {
  return path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
}
