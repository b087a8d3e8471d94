import { RequestError, type RequestPermissionResponse } from '@agentclientprotocol/sdk';
import pLimit from 'p-limit';
import { z } from 'zod';
import type { GateDecision, ProgramEnvironment } from '../../../environment/index.ts';
import { plainLine } from '../../../lib/plain-line.ts';
import type { Action } from '../../../schema/index.ts';
import type { SessionUpdates } from './session-updates.ts';

/** An agent with more open requests does not wait for answers. */
const maxOpen = 100;
const maxShown = 2 ** 16;

const Asked = z.object({
  toolCall: z.object({
    title: z.string().nullish(),
    kind: z.string().nullish(),
    rawInput: z.json().optional(),
    content: z.json().optional(),
  }),
  options: z.array(z.object({ optionId: z.string(), kind: z.string() })).max(100),
});
type Asked = z.infer<typeof Asked>;

/** Answers an agent's requests for permissions: as the run's gate decides, or by allowing them if there is no gate. */
export class Permissions {
  readonly #environment: ProgramEnvironment;
  readonly #updates: SessionUpdates;
  readonly #over: AbortSignal;
  /** A gate makes one decision at a time. */
  readonly #oneAtATime = pLimit(1);
  readonly #told: string[] = [];
  #open = 0;

  /** @param over when nobody waits for decisions any more */
  constructor(environment: ProgramEnvironment, updates: SessionUpdates, over: AbortSignal) {
    this.#environment = environment;
    this.#updates = updates;
    this.#over = over;
  }

  /** What was denied since the last call, and why: the protocol's answer has no field for reasons. */
  takeDenied(): string[] {
    return this.#told.splice(0);
  }

  /** @throws RequestError if it is not a valid request for a permission */
  async answer(params: unknown): Promise<RequestPermissionResponse> {
    const read = Asked.safeParse(params);
    if (!read.success) throw RequestError.invalidParams(undefined, plainLine(read.error.message, 300));
    if (this.#open >= maxOpen)
      throw RequestError.internalError(undefined, `${maxOpen} requests for permissions are open`);
    this.#open += 1;
    try {
      return await this.#oneAtATime(() => this.#decide(read.data));
    } finally {
      this.#open -= 1;
    }
  }

  async #decide(asked: Asked): Promise<RequestPermissionResponse> {
    const action = actionOf(asked);
    if (this.#over.aborted) return cancelled;
    try {
      const decision = await this.#environment.permission(action);
      if (decision === null || decision.kind === 'allow') {
        this.#updates.permission(action.name, decision === null ? 'allowed' : `allowed by ${decision.actor}`);
        return chosen(asked, 'allow');
      }
      const denied = reasonOf(decision);
      this.#updates.permission(action.name, denied);
      this.#told.push(`${plainLine(action.name, 200)}: ${denied}`);
      return chosen(asked, 'reject');
    } catch (error) {
      if (!this.#over.aborted) this.#environment.fail(error);
      return cancelled;
    }
  }
}

const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };

/** An answer for this time only or, if there is none, a permanent one. */
function chosen({ options }: Asked, kind: 'allow' | 'reject'): RequestPermissionResponse {
  const option =
    options.find((one) => one.kind === `${kind}_once`) ??
    options.find((one) => one.kind === `${kind}_always`);
  return option === undefined ? cancelled : { outcome: { outcome: 'selected', optionId: option.optionId } };
}

/** The action that the gate sees. */
function actionOf({ toolCall: { title, kind, rawInput, content } }: Asked): Action {
  const all = { kind: kind ?? 'other', input: rawInput ?? content ?? null };
  const text = JSON.stringify(all);
  const args =
    text.length <= maxShown ? all : { kind: all.kind.slice(0, 200), input: `${text.slice(0, maxShown)}…` };
  return { name: title ?? 'a tool', args };
}

function reasonOf(decision: Exclude<GateDecision, { kind: 'allow' }>): string {
  const { actor, reason } = decision;
  const why = reason === undefined || reason === '' ? '' : ` ${reason}`;
  if (decision.kind !== 'replace') return `denied by ${actor}.${why}`;
  const { name, args } = decision.action;
  return `denied by ${actor}, who wants this instead: ${name} ${JSON.stringify(args)}.${why}`;
}
