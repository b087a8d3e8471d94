import type { StopReason } from '@agentclientprotocol/sdk';
import {
  briefInside,
  helpersInside,
  type ProgramEnvironment,
  workspaceInside,
} from '../../../environment/index.ts';
import type { Sandbox } from '../../../sandbox/index.ts';
import { Tail } from '../tail.ts';

const checkMs = 60_000;
const maxMessage = 4_000;
/** With less time left, an agent could not do anything useful. */
const minSeconds = 10;

/** The prompt to continue for an agent that has ended its turn; null: it is done. */
export async function followUp(
  stopReason: StopReason,
  denied: readonly string[],
  {
    environment,
    sandbox,
    signal,
  }: { environment: ProgramEnvironment; sandbox: Sandbox; signal: AbortSignal },
): Promise<string | null> {
  const { steps_left: turns, seconds_left: seconds } = environment.budget;
  if (turns < 1 || seconds < minSeconds) return null;
  const problem = await submissionProblem(sandbox, signal);
  const wasCutOff = stopReason === 'max_tokens' || stopReason === 'max_turn_requests';
  if (problem === null && denied.length === 0 && !wasCutOff) return null;
  return [
    ...denied.map((line) => `You did not get a permission. ${line}`),
    ...(problem === null
      ? []
      : [`You have stopped, and there is no submission that the grader accepts.\n${problem}`]),
    `You have ${turns} turns and ${Math.floor(seconds)} seconds left. Go on until you are done.`,
  ].join('\n\n');
}

/** Why the grader would not accept the submission; null if it would. */
async function submissionProblem(sandbox: Sandbox, signal: AbortSignal): Promise<string | null> {
  const printed = new Tail(maxMessage);
  const places = [
    `MLAB_WORKSPACE=${sandbox.pathInside(workspaceInside)}`,
    `MLAB_TASK=${sandbox.pathInside(briefInside)}`,
  ];
  const check = `${sandbox.pathInside(helpersInside)}/outside/check.py`;
  const process = await sandbox.start(['env', ...places, 'python', '-I', check], {
    ...{ stdin: 'none', timeoutMs: checkMs, signal },
    onOutput: (chunk) => printed.add(chunk),
  });
  const { exitCode } = await process.ended;
  return exitCode === 0 ? null : printed.text.trim();
}
