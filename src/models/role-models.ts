import { UserError } from '../lib/errors.ts';
import type { ModelRequest, ModelRole, ModelRoles, RoleSettings, TokenUsage } from '../schema/index.ts';
import { askWithRetries } from './ask-with-retries.ts';
import type { Clock } from './clock.ts';
import { mostInputTokens, probableUsage } from './estimate.ts';
import type { KnownPrice } from './known-prices.ts';
import {
  type AskOptions,
  type CallEstimate,
  type LanguageModels,
  type ModelCall,
  ModelUnavailable,
} from './language-models.ts';
import type { CallLimiter } from './limiter.ts';
import { costOf, mostThatCosts } from './prices.ts';
import { WireError, type WireModel, type WireReply, type WireRequest } from './wire.ts';

/** All that asking in one role needs. */
export interface RoleModel {
  settings: RoleSettings;
  /** Null where it is not known. */
  price: KnownPrice | null;
  limiter: CallLimiter;
  /** How often one call is tried at most. */
  attempts: number;
  /** Made when it is first needed. */
  wireFor(request: ModelRequest): Promise<WireModel>;
}

/** The language models of one run, over the wire. */
export class RoleModels implements LanguageModels {
  readonly roles: ModelRoles;
  readonly #models: Readonly<Record<ModelRole, RoleModel>>;
  readonly #clock: Clock;

  constructor(models: Readonly<Record<ModelRole, RoleModel>>, clock: Clock) {
    this.roles = {
      agent: models.agent.settings,
      editor: models.editor.settings,
      fast: models.fast.settings,
    };
    this.#models = models;
    this.#clock = clock;
  }

  estimate(request: ModelRequest): CallEstimate {
    const { settings, price } = this.#models[request.role];
    const tokens = { input: mostInputTokens(request), output: settings.max_output_tokens };
    return {
      tokens: tokens.input + tokens.output,
      money: price === null ? null : mostThatCosts(tokens, price),
    };
  }

  async ask(request: ModelRequest, options: AskOptions): Promise<ModelCall> {
    const model = this.#models[request.role];
    const { limiter, attempts, price } = model;
    const wire = await reachable(model, request);
    const hasRoomAfter = (replies: readonly WireReply[]) => fits(replies, request, model, options.reserved);
    const equipment = { wire, limiter, attempts, clock: this.#clock, hasRoomAfter };
    const asked = await askWithRetries(wireRequest(request, model.settings), equipment, options);
    const usages = [...asked.emptyReplies, asked.reply].map((reply) => usageOf(reply, request));
    return {
      answer: asked.reply.answer,
      answeredBy: asked.reply.answeredBy,
      usage: usages.reduce(sum),
      cost: price === null ? null : usages.reduce((total, usage) => total + costOf(usage, price), 0),
      latencyMs: asked.latencyMs,
      waitingMs: asked.waitingMs,
      attempts: asked.attempts,
    };
  }
}

/** Whether these replies and one more, of a request as long as the last, stay within what is kept for the call. */
function fits(
  replies: readonly WireReply[],
  request: ModelRequest,
  { price, settings }: RoleModel,
  reserved: CallEstimate | undefined,
): boolean {
  if (reserved === undefined) return true;
  const usages = replies.map((reply) => usageOf(reply, request));
  const next = { input: usages.at(-1)?.input ?? 0, output: settings.max_output_tokens };
  const tokens = usages.reduce(
    (total, { input, output }) => total + input + output,
    next.input + next.output,
  );
  if (tokens > reserved.tokens) return false;
  if (price === null || reserved.money === null) return true;
  const money = usages.reduce((total, usage) => total + costOf(usage, price), mostThatCosts(next, price));
  return money <= reserved.money;
}

/** A model that can't even be set up is as unavailable as one that does not answer. */
async function reachable(model: RoleModel, request: ModelRequest): Promise<WireModel> {
  try {
    return await model.wireFor(request);
  } catch (error) {
    if (error instanceof WireError) throw new ModelUnavailable(error.failure, error.message, error.hint, []);
    if (UserError.isInstance(error))
      throw new ModelUnavailable('unknown_model', error.message, error.hint, []);
    throw error;
  }
}

function wireRequest({ messages, tools = [], stop = [] }: ModelRequest, role: RoleSettings): WireRequest {
  return { messages, tools, stop, temperature: role.temperature, maxOutputTokens: role.max_output_tokens };
}

function usageOf(reply: WireReply, request: ModelRequest): TokenUsage {
  return reply.usage ?? probableUsage(request, reply.answer);
}

function sum(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    cached_input: a.cached_input + b.cached_input,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
    source: a.source === 'provider' && b.source === 'provider' ? 'provider' : 'estimate',
  };
}
