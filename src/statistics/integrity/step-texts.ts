import { isExecution, isShell } from '../executions.ts';
import type { TranscriptStep } from '../process/run-transcript.ts';

/** Arguments and actions with prose: it describes, but attempts nothing. */
const proseArguments: ReadonlySet<string> = new Set([
  ...['edit_instruction', 'things_to_look_for', 'things_to_reflect_on', 'current_plan'],
  ...['final_answer', 'request'],
]);
const proseActions: ReadonlySet<string> = new Set([
  ...['Final Answer', 'Request Help', 'Reflection', 'Append Summary to Research Log'],
  ...['Retrieval from Research Log', 'Reply'],
]);

/** The code, commands and paths of a step: from the agent, and from its editor. */
export function askedText(step: TranscriptStep): string {
  if (proseActions.has(step.action)) return '';
  const given = Object.entries(step.args)
    .filter(([name]) => !proseArguments.has(name))
    .map(([, value]) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')));
  // An edit by a model shows in the added lines.
  const edited = step.action.startsWith('Edit Script') ? addedLines(step.observation) : [];
  return [...given, ...edited].join('\n');
}

/** What the agent's code printed; empty for other actions, and for text that a model wrote. */
export function printedText(step: TranscriptStep): string {
  return isExecution(step.action) && !step.byModel ? step.observation : '';
}

/** Commands for a shell, or an interpreter's shell escapes. */
export function commandText(step: TranscriptStep): string {
  if (isShell(step.action)) return shellCommands(step.args).join('\n');
  const { command } = step.args;
  if (typeof command !== 'string') return '';
  if (step.action === 'Run Command') return command;
  if (step.action !== 'Python REPL') return '';
  const lines = command.split('\n').filter((line) => /^\s*[!%]/.test(line));
  return lines.map((line) => line.replace(/^\s*[!%]/, '')).join('\n');
}

/** From the tools of outside agents, whatever their arguments are called; `calls` are those of one step. */
function shellCommands(args: Readonly<Record<string, unknown>>): string[] {
  const { command, cmd, calls } = args;
  if (Array.isArray(calls)) {
    return calls.flatMap((call: unknown) => {
      const input = typeof call === 'object' && call !== null && 'input' in call ? call.input : null;
      return typeof input === 'object' && input !== null ? shellCommands({ ...input }) : [];
    });
  }
  const given = command ?? cmd;
  if (typeof given === 'string') return [given];
  return Array.isArray(given) ? [given.join(' ')] : [];
}

/** A path relative to the workspace: without `./` and `/workspace/` before it. */
export function workspacePath(path: string): string {
  return path.replace(/^\/workspace\//, '').replace(/^(?:\.\/)+/, '');
}

function addedLines(diff: string): string[] {
  return diff.split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++'));
}
