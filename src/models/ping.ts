import { messageOf, UserError } from '../lib/errors.ts';
import type { ModelFailure, ModelRequest, TokenUsage } from '../schema/index.ts';
import type { GatewayReply } from './gateway/caller.ts';
import { Quota } from './quota.ts';
import type { ModelRegistry } from './registry.ts';

/** The answer of a model to one tiny request, or what prevented it. */
export type Ping =
  | {
      model: string;
      isAnswered: true;
      /** The model's answer, or why it gave none. */
      text: string;
      answeredBy: string | null;
      usage: TokenUsage;
      cost: number | null;
      latencyMs: number;
    }
  | { model: string; isAnswered: false; failure: ModelFailure | 'settings'; message: string; hint: string };

/** For a short answer, and for the reasoning of models that can't turn it off. */
const maxOutputTokens = 256;

/** A local server may have to load the model first. */
const timeoutMs = 120_000;

/** Enough for a rate limit that passes; a server that is broken is soon reported. */
const maxAttempts = 5;

const request: ModelRequest = {
  role: 'agent',
  purpose: 'ping',
  messages: [{ role: 'user', text: 'Answer with the one word: ready' }],
};

/**
 * Sends one tiny request; again only if the provider refuses because of its rate limit or load: then the limiter waits.
 * @param onRefused called with each such refusal
 * @throws the signal's reason if it is aborted
 */
export async function pingModel(
  registry: ModelRegistry,
  model: string,
  signal: AbortSignal,
  onRefused: (line: string) => void = () => {},
): Promise<Ping> {
  const role = { model, temperature: null, max_output_tokens: maxOutputTokens };
  const roles = { agent: role, editor: role, fast: role };
  const timeOut = AbortSignal.timeout(timeoutMs);
  let refusal: Ping | null = null;
  try {
    registry.check(roles);
    const gateway = registry.gateway(roles, { quota: new Quota({ of: 'a ping' }) }, { attempts: 1 });
    const ask = async () =>
      pingOf(model, await gateway.ask(request, { signal: AbortSignal.any([signal, timeOut]) }));
    for (let attempts = 1; ; attempts += 1) {
      const ping = await ask();
      if (ping.isAnswered || attempts === maxAttempts || !isRefusal(ping.failure)) return ping;
      refusal = ping;
      onRefused(`${ping.failure}: ${ping.message}`);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (refusal !== null && timeOut.aborted) return refusal;
    return { model, isAnswered: false, ...explained(error, timeOut) };
  }
}

function isRefusal(failure: string): boolean {
  return failure === 'rate_limited' || failure === 'overloaded';
}

function pingOf(model: string, reply: GatewayReply): Ping {
  if (reply.kind === 'over_quota') throw new Error(reply.message);
  if (reply.kind === 'unavailable') {
    const { failure, message, hint } = reply.error;
    return { model, isAnswered: false, failure, message, hint };
  }
  const { answer, answeredBy, usage, cost, latencyMs } = reply;
  const text = answer.kind === 'answered' ? answer.text.trim() : answer.message;
  return { model, isAnswered: true, text, answeredBy, usage, cost, latencyMs };
}

function explained(error: unknown, timeOut: AbortSignal) {
  if (timeOut.aborted) {
    const message = `There was no answer within ${timeoutMs / 1000} s.`;
    return { failure: 'timed_out', message, hint: 'Look at the server, or try again.' } as const;
  }
  if (UserError.isInstance(error))
    return { failure: 'settings', message: messageOf(error), hint: error.hint } as const;
  throw error;
}
