import { createInterface } from 'node:readline/promises';
import { UserError } from '../lib/errors.ts';
import { plain } from './table.ts';

/** Asks the person at the terminal, one question at a time. Ctrl-D is no answer, as an empty line is. */
export function personAtTerminal(
  isTerminal: boolean,
): (request: string, signal: AbortSignal) => Promise<string> {
  if (!isTerminal || process.stdin.isTTY !== true)
    throw new UserError(
      'no_terminal',
      'Nobody could answer the agent: this is no terminal.',
      'Run it at a terminal, or leave out --interactive.',
    );
  let last: Promise<unknown> = Promise.resolve();
  return (request, signal) => {
    const answer = last.then(async () => {
      signal.throwIfAborted();
      const line = createInterface({ input: process.stdin, output: process.stderr });
      // While a line is read the terminal sends no signal: Ctrl-C would end the question alone, not the run.
      line.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      try {
        return await line.question(`\nThe agent asks for help:\n${plain(request)}\nYour answer: `, {
          signal,
        });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
        process.stderr.write('\n');
        return '';
      } finally {
        line.close();
      }
    });
    last = answer.catch(() => {});
    return answer;
  };
}
