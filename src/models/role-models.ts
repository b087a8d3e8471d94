import { UserError } from '../lib/errors.ts';
import type {
  CallCharge,
  ModelRequest,
  ModelRole,
  ModelRoles,
  RoleSettings,
  TokenUsage,
} from '../schema/index.ts';
import { askWithRetries } from './ask-with-retries.ts';
import type { Clock } from './clock.ts';
import { type KnownSizes, maxInputTokens } from './estimate.ts';
import type { KnownPrice } from './known-prices.ts';
import {
  type AskOptions,
  CallCut,
  type CallEstimate,
  type LanguageModels,
  type ModelCall,
  ModelUnavailable,
} from './language-models.ts';
import type { CallLimiter } from './limiter.ts';
import { costOf, mostThatCosts } from './prices.ts';
import { type ProviderAdapter, ProviderError, type ProviderRequest } from './provider-adapter.ts';

/** Everything needed to call a model in one role. */
export interface RoleModel {
  settings: RoleSettings;
  /** Null if unknown. */
  price: KnownPrice | null;
  limiter: CallLimiter;
  /** Maximum attempts of one call. */
  attempts: number;
  /** Made on demand. */
  adapterFor(request: ModelRequest): Promise<ProviderAdapter>;
}

/** The language models of one run, each reached by its provider adapter. */
export class RoleModels implements LanguageModels {
  readonly roles: ModelRoles;
  readonly #models: Readonly<Record<ModelRole, RoleModel>>;
  readonly #clock: Clock;
  readonly #sizes: KnownSizes = new WeakMap();

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
    const tokens = { input: maxInputTokens(request, this.#sizes), output: settings.max_output_tokens };
    return {
      tokens: tokens.input + tokens.output,
      money: price === null ? null : mostThatCosts(tokens, price),
    };
  }

  async ask(request: ModelRequest, options: AskOptions): Promise<ModelCall> {
    const model = this.#models[request.role];
    const { limiter, attempts, price } = model;
    const adapter = await reachable(model, request);
    const sent = providerRequest(request, model.settings);
    const paid: TokenUsage[] = [];
    const charge = (): CallCharge => ({
      usage: paid.reduce(sum),
      cost: price === null ? null : paid.reduce((total, usage) => total + costOf(usage, price), 0),
    });
    const { reserve } = options;
    const fitsBudget = reserve === undefined ? undefined : () => reserve(mostAfter(paid, request, model));
    const parts = { adapter, limiter, attempts, clock: this.#clock, paid, fitsBudget };
    try {
      const asked = await askWithRetries(sent, parts, options);
      const { answer, answeredBy } = asked.reply;
      const { latencyMs, waitingMs } = asked;
      return { answer, answeredBy, ...charge(), latencyMs, waitingMs, attempts: asked.attempts };
    } catch (error) {
      if (paid.length === 0) throw error;
      if (options.signal.aborted) throw new CallCut(charge());
      if (!ModelUnavailable.isInstance(error)) throw error;
      throw new ModelUnavailable(error.failure, error.message, error.hint, error.attempts, charge());
    }
  }
}

/**
 * The maximum of a call after these attempts, with one more. The charge of a failed attempt may be an estimate, and the
 * next one may cost more.
 */
function mostAfter(
  paid: readonly TokenUsage[],
  request: ModelRequest,
  { price, settings }: RoleModel,
): CallEstimate {
  const input = Math.max(maxInputTokens(request), paid.at(-1)?.input ?? 0);
  const next = { input, output: settings.max_output_tokens };
  const money = (known: KnownPrice) =>
    paid.reduce((total, usage) => total + costOf(usage, known), mostThatCosts(next, known));
  return {
    tokens: paid.reduce((total, { input, output }) => total + input + output, next.input + next.output),
    money: price === null ? null : money(price),
  };
}

/** A model that can't be set up is as unavailable as one that does not answer. */
async function reachable(model: RoleModel, request: ModelRequest): Promise<ProviderAdapter> {
  try {
    return await model.adapterFor(request);
  } catch (error) {
    if (error instanceof ProviderError)
      throw new ModelUnavailable(error.failure, error.message, error.hint, []);
    if (UserError.isInstance(error))
      throw new ModelUnavailable('unknown_model', error.message, error.hint, []);
    throw error;
  }
}

function providerRequest(
  { messages, tools = [], stop = [] }: ModelRequest,
  role: RoleSettings,
): ProviderRequest {
  return { messages, tools, stop, temperature: role.temperature, maxOutputTokens: role.max_output_tokens };
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
