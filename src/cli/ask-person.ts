import { plain } from './table.ts';
import { terminalQuestions } from './terminal-questions.ts';

/** Answers agents that ask for help. */
export function personAtTerminal(
  isTerminal: boolean,
): (request: string, signal: AbortSignal) => Promise<string> {
  const ask = terminalQuestions(isTerminal, 'leave out --interactive');
  return (request, signal) => ask(`\nThe agent asks for help:\n${plain(request)}\nYour answer: `, signal);
}
