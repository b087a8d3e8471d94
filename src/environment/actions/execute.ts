import { z } from 'zod';
import type { ProcessEnd } from '../../sandbox/index.ts';
import type { ActionStatus } from '../../schema/index.ts';
import { type ActionOutcome, defineAction } from '../action.ts';
import type { CommandResult } from '../action-context.ts';
import { PathFailed } from '../workspace-path.ts';

const kindNames = { folder: 'a folder', other: 'not a regular file' } as const;

/** Linux accepts at most 128 KiB in one argument, and no NUL. */
const maxCommandBytes = 120_000;
export const commandText = z
  .string()
  .min(1)
  .refine((text) => !text.includes('\0'), 'it may not contain a NUL character')
  .refine(
    (text) => Buffer.byteLength(text) <= maxCommandBytes,
    `at most ${maxCommandBytes} bytes; put a longer text into a file with Write File`,
  );

const executeScript = defineAction({
  name: 'Execute Script',
  description:
    'Runs a Python script with the workspace as the current directory; shows its output (standard output and standard error, in order), its exit code and how long it took.',
  returns:
    'What the script printed, then its exit code and duration in brackets. `failed` means an exit code other than 0.',
  args: { script_name: z.string().min(1).describe('path of the Python script relative to the workspace') },
  run: async (context, { script_name }) => {
    const kind = context.files.kindOf(script_name);
    if (kind === null) throw new PathFailed(`${script_name} does not exist. List Files shows what is there.`);
    if (kind !== 'file') throw new PathFailed(`${script_name} is ${kindNames[kind]}, not a script.`);
    const path = context.files.pathOf(script_name);
    // Python takes a name that begins with a hyphen for an option.
    return outcomeOf(
      await context.command(['python', path.startsWith('-') ? `./${path}` : path]),
      'The script',
    );
  },
});

const runCommand = defineAction({
  name: 'Run Command',
  description:
    'Runs a shell command in the sandbox with the workspace as the current directory; shows its output.',
  returns:
    'What the command printed, then its exit code and duration in brackets. `failed` means an exit code other than 0.',
  args: { command: commandText.describe('a command line for sh') },
  run: async (context, { command }) =>
    outcomeOf(await context.command(['/bin/sh', '-c', command]), 'The command'),
});

const pythonRepl = defineAction({
  name: 'Python REPL',
  description:
    'Runs Python code in an interpreter that stays alive between steps and keeps its variables; shows its output and the value of the last expression.',
  returns: 'What the code printed, and the value of its last expression. `failed` means an exception.',
  args: { command: z.string().describe('Python code') },
  run: async (context, { command }) => {
    const answer = await context.repl(command);
    if (answer.kind === 'answered') {
      return { status: answer.failed ? 'failed' : 'ok', observation: answer.output };
    }
    const outcome = outcomeOf({ end: answer.end, output: answer.output }, 'The interpreter');
    const status = outcome.status === 'ok' ? 'failed' : outcome.status;
    return {
      ...outcome,
      status,
      observation: `${outcome.observation}\nThe next command starts a new interpreter without the variables.`,
    };
  },
});

function outcomeOf({ end, output }: CommandResult, subject: string): ActionOutcome {
  const printed = output === '' ? '(it printed nothing)' : output.replace(/\n$/, '');
  return {
    status: statusOf(end),
    observation: `${printed}\n[${endingOf(end, subject)}]`,
    exitCode: end.exitCode,
  };
}

export function statusOf(end: ProcessEnd): ActionStatus {
  if (end.ending === 'exited') return end.exitCode === 0 ? 'ok' : 'failed';
  return end.ending === 'aborted' ? 'error' : end.ending;
}

function endingOf(end: ProcessEnd, subject: string): string {
  const time = `${(end.durationMs / 1000).toFixed(1)} s`;
  switch (end.ending) {
    case 'exited':
      return end.exitCode === null
        ? `ended by ${end.signal ?? 'a signal'}, ${time}`
        : `exit code ${end.exitCode}, ${time}`;
    case 'timed_out':
      return `${subject} was stopped after ${time}: its time was up. What it printed until then is above.`;
    case 'out_of_memory':
      return `${subject} was stopped after ${time}: it needed more memory than the limit allows.`;
    case 'workspace_full':
      return `${subject} was stopped after ${time}: the workspace grew beyond its limit. Remove files before going on.`;
    case 'aborted':
      return `${subject} was stopped after ${time}.`;
  }
}

export const executeActions = [executeScript, runCommand, pythonRepl];
