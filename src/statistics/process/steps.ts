import { isExecution } from '../executions.ts';
import type { TranscriptStep } from './run-transcript.ts';

const editing = new Set([
  ...['Edit Script (AI)', 'Edit Script Segment (AI)', 'Edit File', 'Write File', 'Append File', 'Copy File'],
]);
const reading = new Set(['Read File', 'Inspect Script Lines', 'Search Files']);
/** Actions that keep the agent's own log, and queries of it and of the budget: they don't affect the work. */
const aside = new Set([
  ...['Append Summary to Research Log', 'Retrieval from Research Log', 'Reflection', 'Check Budget'],
]);

const logFile = 'research_log.log';
/** Backups that actions of the original made for Undo Edit Script, in imported runs. */
const backup = /^backup\/[^/]+_\d{4}-\d{2}-\d{2}_[\d-]+$/;

/** Whether the step ran code: an action that executes, and that started a process. */
export function ran({ action, status, exitCode, observation }: TranscriptStep): boolean {
  if (!isExecution(action)) return false;
  if (status === 'invalid' || status === 'refused' || status === 'closed' || status === 'error') return false;
  // If nothing could be started, one line says why. Exit codes are null after signals, and in runs of other systems.
  return (
    status !== 'failed' || action === 'Python REPL' || exitCode !== null || observation.trim().includes('\n')
  );
}

export function isRepl({ action }: TranscriptStep): boolean {
  return action === 'Python REPL';
}

export function succeeded({ status }: TranscriptStep): boolean {
  return status === 'ok';
}

/** Whether the step changed a file by an editing action, or failed to. The log does not count as such a file. */
export function isEdit(step: TranscriptStep): boolean {
  return editing.has(step.action) && step.status === 'ok' && editedFile(step) !== logFile;
}

/** The file that an edit wrote, or that Undo Edit Script restored; null if its arguments do not say. */
export function editedFile({ args }: TranscriptStep): string | null {
  const name = args.save_name ?? args.destination ?? args.file_name ?? args.script_name;
  return typeof name === 'string' ? plainPath(name) : null;
}

export function isUndo({ action, status }: TranscriptStep): boolean {
  return action === 'Undo Edit Script' && status === 'ok';
}

export function isReading({ action, status }: TranscriptStep): boolean {
  return reading.has(action) && status === 'ok';
}

export function isAside({ action }: TranscriptStep): boolean {
  return aside.has(action);
}

/** Whether anything changed except what actions write on behalf of the agent. */
export function changedWork(step: TranscriptStep): boolean {
  return step.changedCount > step.changed.length || changedFiles(step).length > 0;
}

/** The changed paths, without what actions write on behalf of the agent. */
export function changedFiles({ changed }: TranscriptStep): string[] {
  return changed.filter((path) => path !== logFile && !backup.test(path));
}

/** In the form of paths in `changed`. */
export function plainPath(path: string): string {
  return path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
}
