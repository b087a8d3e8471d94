import { isExecution } from '../executions.ts';
import type { TranscriptStep } from './run-transcript.ts';

const editing = new Set([
  ...['Edit Script (AI)', 'Edit Script Segment (AI)', 'Edit File', 'Write File', 'Append File', 'Copy File'],
]);
const reading = new Set(['Read File', 'Inspect Script Lines', 'Search Files']);
/** Actions that keep the agent's own log, and questions to it and to the clock: they do nothing to the work. */
const aside = new Set([
  ...['Append Summary to Research Log', 'Retrieval from Research Log', 'Reflection', 'Check Budget'],
]);

const logFile = 'research_log.log';
/** What actions of the original kept for Undo Edit Script: in runs of it that were imported. */
const backup = /^backup\/[^/]+_\d{4}-\d{2}-\d{2}_[\d-]+$/;

/** Whether the step ran code: an action that executes, and that came as far as a process. */
export function ran({ action, status, exitCode, observation }: TranscriptStep): boolean {
  if (!isExecution(action)) return false;
  if (status === 'invalid' || status === 'refused' || status === 'closed' || status === 'error') return false;
  // Where nothing could be started, one line says why. Exit codes are null after signals, and in runs of other systems.
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

/** Whether the step changed a file by an action made for that, or was to change it and did not. The log is no such file. */
export function isEdit(step: TranscriptStep): boolean {
  return editing.has(step.action) && step.status === 'ok' && editedFile(step) !== logFile;
}

/** The file that an edit wrote, or Undo Edit Script put back; null where its arguments do not say. */
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

/** Whether anything changed but what actions write on behalf of the agent. */
export function changedWork(step: TranscriptStep): boolean {
  return step.changedCount > step.changed.length || changedFiles(step).length > 0;
}

/** The paths that changed, without what actions write on behalf of the agent. */
export function changedFiles({ changed }: TranscriptStep): string[] {
  return changed.filter((path) => path !== logFile && !backup.test(path));
}

/** As paths stand in `changed`. */
export function plainPath(path: string): string {
  return path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
}
