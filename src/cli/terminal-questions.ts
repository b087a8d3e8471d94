import { createInterface } from 'node:readline/promises';
import { UserError } from '../lib/errors.ts';
import type { Context } from './context.ts';

/** Asks the person at the terminal; no answer is an empty string. */
export type AskAtTerminal = (prompt: string, signal: AbortSignal) => Promise<string>;

/**
 * One question at a time. Ctrl-D counts as an empty line.
 * @param elsewhere what to do if nobody can answer
 */
export function terminalQuestions(isTerminal: boolean, elsewhere: string): AskAtTerminal {
  if (!isTerminal || process.stdin.isTTY !== true)
    throw new UserError(
      'no_terminal',
      'mlab needs an answer to a question, but standard input is not a terminal.',
      `Run the command in a terminal, or ${elsewhere}.`,
    );
  let last: Promise<unknown> = Promise.resolve();
  return (prompt, signal) => {
    const answer = last.then(() => readAnswer(prompt, signal));
    last = answer.catch(() => {});
    return answer;
  };
}

/**
 * Whether the person says yes.
 * @param elsewhere as for `terminalQuestions`
 */
export async function confirm(
  { isTerminal, signal }: Pick<Context, 'isTerminal' | 'signal'>,
  question: string,
  elsewhere: string,
): Promise<boolean> {
  const answer = await terminalQuestions(isTerminal, elsewhere)(`${question} [y/N] `, signal);
  return /^y(es)?$/i.test(answer.trim());
}

async function readAnswer(prompt: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const line = createInterface({ input: process.stdin, output: process.stderr });
  // While a line is read the terminal sends no signal: Ctrl-C would end only the question, not the run.
  line.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    return await line.question(prompt, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
    process.stderr.write('\n');
    return '';
  } finally {
    line.close();
  }
}
