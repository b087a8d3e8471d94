import type { ModelRequest } from '../schema/index.ts';
import type { RecordedCall, RecordedCompletion, RecordedStep } from './recorded-run.ts';
import type { RequestedAction } from './requested-action.ts';

const shown = 120;
const cause = 'Does the agent use a clock, random numbers or a file of its own?';

/** The agent did not act as before: the run can't be resumed from its trace. */
export class ReplayDiverged extends Error {
  override readonly name = 'ReplayDiverged';
}

/** @throws ReplayDiverged if the agent chose another action */
export function checkStep(recorded: RecordedStep, action: RequestedAction): void {
  if (recorded.action === action.name && recorded.args === action.text) return;
  const branch = recorded.branch === 'main' ? '' : ` of branch ${recorded.branch}`;
  const difference =
    recorded.action === action.name
      ? `the same action, "${action.name}", with other arguments. ${firstDifference(recorded.args, action.text)}`
      : `"${action.name}", the trace has "${recorded.action}".`;
  throw new ReplayDiverged(`At step ${recorded.step}${branch} the agent chose ${difference}`);
}

/** @param did what the agent did instead of its next recorded request */
export function unexpected(did: string, next: RecordedCompletion): ReplayDiverged {
  return new ReplayDiverged(`The agent ${did}, where the trace has ${whatIs(next)}.`);
}

export function whatIs(completion: RecordedCompletion): string {
  switch (completion.kind) {
    case 'step': {
      const { branch, step, action } = completion.step;
      return `step ${step}${branch === 'main' ? '' : ` of branch ${branch}`} ("${action}")`;
    }
    case 'call':
      return `a model call (${completion.call.event.purpose})`;
    case 'fork': {
      const { branch, origin } = completion.fork;
      return `a fork (${branch}) of ${origin.branch} at step ${origin.step}`;
    }
  }
}

/** Says in which message, and where in it, a request differs from the recorded one. */
export function describeDifference({ event, messages }: RecordedCall, request: ModelRequest): string {
  const where = `At model call ${event.call} (${event.purpose})`;
  const recorded = messages();
  const index = request.messages.findIndex((asked, place) => JSON.stringify(asked) !== recorded[place]);
  if (index < 0) {
    const detail =
      recorded.length === request.messages.length
        ? 'its role, tools or stop texts differ'
        : `it sent ${request.messages.length} messages, the trace has ${recorded.length}`;
    return `${where} the agent's request differs:  ${detail}.`;
  }
  const asked = request.messages[index];
  const difference = firstDifference(recorded[index] ?? '', asked === undefined ? '' : JSON.stringify(asked));
  return `${where} the agent's message ${index + 1} is not the recorded one. ${difference}`;
}

function firstDifference(recorded: string, asked: string): string {
  let start = 0;
  while (start < recorded.length && recorded[start] === asked[start]) start += 1;
  const from = Math.max(0, start - 40);
  const part = (text: string) => JSON.stringify(text.slice(from, from + shown));
  return `They differ from character ${start + 1} on: recorded ${part(recorded)}, now ${part(asked)}. ${cause}`;
}
