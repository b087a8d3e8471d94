import type { Ending } from '../../environment/index.ts';
import { lastLines } from '../../lib/last-lines.ts';
import { ModelUnavailable, type OverQuota } from '../../models/index.ts';
import type { ProcessEnd } from '../../sandbox/index.ts';
import type { ProgramOutcome } from './program-turns.ts';

const maxMessage = 2_000;

/** How a program ended, and its last answer if it was driven by a protocol. */
export interface ProgramEnd {
  process: ProcessEnd;
  said: { kind: 'done' | 'refused' } | { kind: 'failed'; message: string } | null;
}

/** Failures for which the program is to blame, not the provider. */
const ownFailures: ReadonlySet<string> = new Set(['bad_request', 'cut_off']);

/**
 * How a program's run ended if no limit ended it.
 * @param hasModel whether the run has a model
 * @throws ModelUnavailable if it ended because its model did not answer it
 */
export function howItEnded(
  ended: ProgramEnd | null,
  outcome: ProgramOutcome,
  printed: string,
  hasModel: boolean,
): Ending {
  const { failure, answers, lastText } = outcome;
  if (failure !== null && failure.failure !== 'cut_off' && !ownFailures.has(failure.failure)) {
    const hint =
      'mlab models --ping tests its key, name and address. The same command again starts this run from the beginning.';
    throw new ModelUnavailable(failure.failure, failure.message, hint, []);
  }
  if (ended === null) return failed('The program did not start.');
  const { process: end, said: talked } = ended;
  const said =
    printed.trim() === '' ? '' : `${hintFor(printed)} It printed last:\n${lastLines(printed, maxMessage)}`;
  const isDone = talked?.kind === 'done';
  if (end.ending === 'out_of_memory' && !isDone)
    return failed(`The program was ended: the memory of the run was used up.${said}`);
  if (end.ending === 'workspace_full' && !isDone)
    return failed(`The program was ended: the workspace was full.${said}`);
  if (talked?.kind === 'failed') return failed(`The agent failed: ${talked.message}${said}`);
  if (talked?.kind === 'refused')
    return { reason: 'refused', message: 'The agent declined to go on.', finalAnswer: lastText };
  if (talked === null && end.exitCode !== 0)
    return failed(
      `The program ended with ${end.exitCode === null ? end.signal : `exit code ${end.exitCode}`}.${said}`,
    );
  if (answers === 0 && hasModel)
    return {
      reason: 'agent_stopped',
      message: `The program ended without an answer of its model.${said}`,
      finalAnswer: null,
    };
  return { reason: 'final_answer', message: 'The program ended by itself.', finalAnswer: lastText };
}

/** What helps a program that misses a file or a package. */
function hintFor(printed: string): string {
  return /\b(?:FileNotFoundError|ModuleNotFoundError|ENOENT|ERR_MODULE_NOT_FOUND)\b|No such file or directory/.test(
    printed,
  )
    ? ' It sees only the workspace, system files and the files that its command or its option `files` names: docs/agents/command.md.'
    : '';
}

/** The end of a run whose own limit does not allow another call. */
export function overLimit({ exceeded, message }: OverQuota): Ending {
  return { reason: exceeded === 'tokens' ? 'token_limit' : 'money_limit', message, finalAnswer: null };
}

function failed(message: string): Ending {
  return { reason: 'agent_error', message, finalAnswer: null };
}
