import { resolve } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import type { ModelPrice, ModelRole, ModelRoles, ProviderSettings, RoleSettings } from '../schema/index.ts';
import { type Clock, systemClock } from './clock.ts';
import { ModelGateway, type ModelGatewayOptions } from './gateway/model-gateway.ts';
import { Upstream, type UpstreamModel } from './gateway/upstream.ts';
import type { LanguageModels } from './language-models.ts';
import { CallLimiter, type CallPace } from './limiter.ts';
import { PriceTable } from './prices.ts';
import type { ProviderAdapter } from './provider-adapter.ts';
import {
  builtInProviders,
  connectInThread,
  createRedactor,
  type ProviderState,
  providerAccess,
  providerState,
} from './providers/index.ts';
import { type RoleModel, RoleModels } from './role-models.ts';
import { readScript, type Script, ScriptPosition } from './script.ts';

export interface ModelRegistryOptions {
  /** As in the plan. */
  providers?: Readonly<Record<string, ProviderSettings>>;
  /** As in the plan; they override the known ones. */
  prices?: Readonly<Record<string, ModelPrice>>;
  /** Environment variables, for keys and base URLs. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Relative paths of scripted models start here. */
  folder: string;
  clock?: Clock;
  /** How a model is reached; default: over the network. */
  connect?: typeof connectInThread;
  /**
   * Waits until a call of a provider may begin by a pace that all processes share; default: each process has its own.
   */
  sharedPace?: SharedPace | undefined;
}

export type SharedPace = (provider: string, pace: CallPace, signal: AbortSignal) => Promise<void>;

export interface ForRunOptions {
  /** The models that answered in earlier sessions of this run (`answeredBy`): a scripted model continues after them. */
  answeredBy?: readonly (string | null)[];
  /** Maximum attempts of one call; default: from the provider's settings. */
  attempts?: number;
}

const defaultConcurrent = 8;
const defaultAttempts = 8;
/** Programs wait for complete answers of models that think for minutes. */
const defaultProxyStallSeconds = 600;
const scripted = 'scripted';

/** The language models of one experiment. All its runs share the limiters, one per provider. */
export class ModelRegistry {
  readonly prices: PriceTable;
  readonly #providers: Readonly<Record<string, ProviderSettings>>;
  readonly #variables: Readonly<Record<string, string | undefined>>;
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #connect: typeof connectInThread;
  readonly #sharedPace: SharedPace | undefined;
  readonly #limiters = new Map<string, CallLimiter>();
  readonly #adapters = new Map<string, Promise<ProviderAdapter>>();
  readonly #scripts = new Map<string, Script>();

  constructor({
    providers = {},
    prices = {},
    variables,
    folder,
    clock = systemClock,
    connect = connectInThread,
    sharedPace,
  }: ModelRegistryOptions) {
    this.prices = new PriceTable(prices);
    this.#providers = providers;
    this.#variables = variables;
    this.#folder = folder;
    this.#clock = clock;
    this.#connect = connect;
    this.#sharedPace = sharedPace;
  }

  /**
   * Checks, before anything runs, whether these models can be called; makes no call, and ignores other providers.
   * @throws UserError naming what is missing, such as the variable of a key
   */
  check(roles: ModelRoles): void {
    for (const model of new Set([roles.agent.model, roles.editor.model, roles.fast.model])) {
      if (this.#isScripted(providerOf(model))) this.#script(model);
      else this.#checkProvider(model);
    }
  }

  /**
   * Checks whether a limit on money can be enforced: no call is made if a price is unknown.
   * @throws UserError naming the model
   */
  checkPrices(roles: ModelRoles): void {
    for (const { model } of [roles.agent, roles.editor, roles.fast]) {
      if (this.prices.priceOf(model) !== null) continue;
      if (!this.#isScripted(providerOf(model))) this.#refuseUnknown(model);
      throw new UserError(
        'price_unknown',
        `${model}: its price is unknown, so a limit on money can't be enforced.`,
        `Give the price under "prices" in the experiment file or "run: prices:" in mlab.config.yaml, or limit tokens (mlab models --prices lists known prices).`,
      );
    }
  }

  /** The gateway of one run, or of one process, to the models. */
  gateway(
    roles: ModelRoles,
    quotas: Omit<ModelGatewayOptions, 'models'>,
    options: ForRunOptions = {},
  ): ModelGateway {
    return new ModelGateway({ models: this.forRun(roles, options), ...quotas });
  }

  /** The models of one run, without quotas. Scripted ones start anew with each run. */
  forRun(roles: ModelRoles, { answeredBy = [], attempts }: ForRunOptions = {}): LanguageModels {
    const positions = new Map<string, ScriptPosition>();
    const position = (model: string) => {
      const known = positions.get(model) ?? new ScriptPosition(this.#script(model), answeredBy);
      positions.set(model, known);
      return known;
    };
    const roleModel = (settings: RoleSettings): RoleModel => {
      const provider = providerOf(settings.model);
      return {
        settings,
        price: this.prices.priceOf(settings.model),
        limiter: this.limiter(provider),
        attempts: attempts ?? this.#settingsOf(provider).attempts ?? defaultAttempts,
        adapterFor: this.#isScripted(provider)
          ? async (request) => ({ call: async () => position(settings.model).next(request) })
          : () => this.#adapter(settings.model),
      };
    };
    const models: Record<ModelRole, RoleModel> = {
      agent: roleModel(roles.agent),
      editor: roleModel(roles.editor),
      fast: roleModel(roles.fast),
    };
    return new RoleModels(models, this.#clock);
  }

  /**
   * Resolves when what reaches the models of a run is loaded, which takes time once in a process: it should not count as
   * the first run's. If it can't be loaded, the first call says why.
   */
  async load(roles: ModelRoles): Promise<void> {
    const models = [roles.agent, roles.editor, roles.fast].map(({ model }) => model);
    const reached = models.filter((model) => !this.#isScripted(providerOf(model)));
    await Promise.allSettled(reached.map((model) => this.#adapter(model)));
  }

  /**
   * The models of a run for programs that speak a provider's dialect.
   * @throws UserError if one can't be used that way: its key is missing, or it is scripted
   */
  upstream(roles: ModelRoles): Upstream {
    this.check(roles);
    const models = (['agent', 'editor', 'fast'] as const).map((role) =>
      this.#upstreamModel(role, roles[role]),
    );
    return new Upstream(models);
  }

  #upstreamModel(role: ModelRole, settings: RoleSettings): UpstreamModel {
    const { model } = settings;
    const provider = providerOf(model);
    if (this.#isScripted(provider))
      throw new UserError(
        'no_interface',
        `${model}: scripted replies can't be used by external programs.`,
        'Use a model with an HTTP API, such as one of a local server.',
      );
    const given = this.#settingsOf(provider);
    const access = providerAccess(provider, given, this.#variables);
    if ('code' in access) throw new UserError(access.code, access.message, access.hint);
    const { kind, keyVariable, baseUrl } = providerState(provider, given, this.#variables);
    const redactor = createRedactor(given, this.#variables);
    const name = model.slice(provider.length + 1);
    return {
      ...{ role, settings, name, ...access },
      price: this.prices.priceOf(model),
      limiter: this.limiter(provider),
      stallMs: (given.stall_seconds ?? defaultProxyStallSeconds) * 1000,
      context: { provider, kind, model: name, keyVariable, baseUrl, isStreaming: true, redactor },
    };
  }

  /** The limiter of a provider's calls; made on demand. */
  limiter(provider: string): CallLimiter {
    const known = this.#limiters.get(provider);
    if (known !== undefined) return known;
    const { concurrent = defaultConcurrent, requests_per_minute: requestsPerMinute = null } =
      this.#settingsOf(provider);
    const shared = this.#sharedPace;
    const sharedPace = shared && ((pace: CallPace, signal: AbortSignal) => shared(provider, pace, signal));
    const limiter = new CallLimiter({ concurrent, requestsPerMinute, sharedPace, clock: this.#clock });
    this.#limiters.set(provider, limiter);
    return limiter;
  }

  /** The states of the providers that are built in or have settings, in order. Scripted ones need nothing. */
  states(): ProviderState[] {
    const named = Object.keys(this.#providers).filter((name) => !this.#isScripted(name));
    const names = [...builtInProviders, ...named.filter((name) => !isBuiltIn(name))];
    return names.map((name) => providerState(name, this.#settingsOf(name), this.#variables));
  }

  #isScripted(provider: string): boolean {
    return (this.#settingsOf(provider).kind ?? provider) === scripted;
  }

  #settingsOf(provider: string): ProviderSettings {
    return (Object.hasOwn(this.#providers, provider) ? this.#providers[provider] : undefined) ?? {};
  }

  #checkProvider(model: string): void {
    this.#refuseUnknown(model);
    const provider = providerOf(model);
    const { problem } = providerState(provider, this.#settingsOf(provider), this.#variables);
    if (problem === null) return;
    throw new UserError(problem.code, `${model} is not usable. ${problem.message}`, problem.hint);
  }

  #refuseUnknown(model: string): void {
    const provider = providerOf(model);
    if (Object.hasOwn(this.#providers, provider) || isBuiltIn(provider)) return;
    const known = [...new Set([...builtInProviders, scripted, ...Object.keys(this.#providers)])];
    const meant = nearest(provider, known);
    throw new UserError(
      'unknown_provider',
      `${model}: there is no provider "${provider}".${meant === null ? '' : ` Did you mean "${meant}"?`}`,
      `The providers are ${known.join(', ')}. Add your own under "providers" in the experiment file.`,
    );
  }

  #script(model: string): Script {
    const known = this.#scripts.get(model);
    if (known !== undefined) return known;
    const script = readScript(model, resolve(this.#folder, model.slice(model.indexOf('/') + 1)));
    this.#scripts.set(model, script);
    return script;
  }

  #adapter(model: string): Promise<ProviderAdapter> {
    const known = this.#adapters.get(model);
    if (known !== undefined) return known;
    const adapter = this.#connect(model, this.#settingsOf(providerOf(model)), this.#variables);
    this.#adapters.set(model, adapter);
    return adapter;
  }
}

function isBuiltIn(provider: string): boolean {
  return builtInProviders.some((name) => name === provider);
}

/** The part of a model's name before the first slash. */
export function providerOf(model: string): string {
  return model.slice(0, model.indexOf('/'));
}
