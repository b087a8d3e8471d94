import type { DialectName, ModelRole, RoleSettings } from '../../schema/index.ts';
import type { KnownPrice } from '../known-prices.ts';
import type { CallLimiter } from '../limiter.ts';
import type { FailureContext } from '../providers/index.ts';

/** One model of one provider, to which programs' requests are forwarded. */
export interface UpstreamModel {
  role: ModelRole;
  settings: RoleSettings;
  /** The provider's name for it. */
  name: string;
  baseUrl: string;
  key: string | null;
  /** Null if it is unknown. */
  price: KnownPrice | null;
  limiter: CallLimiter;
  /** A call is given up after so much silence of the provider. */
  stallMs: number;
  /** The context for explaining errors. */
  context: FailureContext;
}

/** For each provider, its best dialect first. */
const dialectsOf: Record<FailureContext['kind'], readonly DialectName[]> = {
  anthropic: ['messages'],
  openai: ['responses', 'chat_completions'],
  google: ['generate_content'],
  // Many servers support more than one; a server itself refuses those that it does not support.
  'openai-compatible': ['chat_completions', 'responses', 'messages'],
};

/** Names of the small models that programs use for titles, summaries and the like; not `gemini` and `minimax`. */
const small = /haiku|(?<!ge)mini(?!max)|nano|flash|lite|small|tiny/i;

/** The models of a run as programs reach them: every request of a program is served by one of these. */
export class Upstream {
  readonly #models: readonly UpstreamModel[];

  /** @param models the agent's first; roles that have the same model are the agent's, too */
  constructor(models: readonly UpstreamModel[]) {
    const [agent] = models;
    this.#models = models.filter(
      (model) => model === agent || model.settings.model !== agent?.settings.model,
    );
  }

  /** The dialects of the agent's model, the best first. */
  get dialects(): readonly DialectName[] {
    const [agent] = this.#models;
    return agent === undefined ? [] : dialectsOf[agent.context.kind];
  }

  /** The models' names at their providers, without duplicates. */
  get names(): string[] {
    return [...new Set(this.#models.map(({ name }) => name))];
  }

  /** A text without the keys of the models' providers. */
  withoutKeys(text: string): string {
    return this.#models.reduce((rest, { context }) => context.redactor.text(rest), text);
  }

  /**
   * The model that serves a request: the one that it names, by the model's own name or its role's (`mlab-fast`);
   * otherwise the fast model for names of typically small models, and the agent's model for all others, or for all if
   * there is no other. Null if none of them supports this dialect.
   */
  modelFor(dialect: DialectName, asked: string): UpstreamModel | null {
    const able = this.#models.filter(({ context }) => dialectsOf[context.kind].includes(dialect));
    const named = able.find(({ name, settings, role }) =>
      [name, settings.model, `mlab-${role}`].includes(asked),
    );
    const role = small.test(asked) ? 'fast' : 'agent';
    return named ?? able.find((model) => model.role === role) ?? able[0] ?? null;
  }
}
