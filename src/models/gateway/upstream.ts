import type { DialectName, ModelRole, RoleSettings } from '../../schema/index.ts';
import type { KnownPrice } from '../known-prices.ts';
import type { CallLimiter } from '../limiter.ts';
import type { FailureContext } from '../providers/index.ts';

/** One model of one provider, as requests of programs are sent on to it. */
export interface UpstreamModel {
  role: ModelRole;
  settings: RoleSettings;
  /** What the provider calls it. */
  name: string;
  baseUrl: string;
  key: string | null;
  /** Null where it is not known. */
  price: KnownPrice | null;
  limiter: CallLimiter;
  /** After so much silence of the provider a call is given up. */
  stallMs: number;
  /** What errors are explained with. */
  context: FailureContext;
}

/** The best of each first. */
const dialectsOf: Record<FailureContext['kind'], readonly DialectName[]> = {
  anthropic: ['messages'],
  openai: ['responses', 'chat_completions'],
  google: ['generate_content'],
  // Many servers speak more than one; what this one does not, it refuses itself.
  'openai-compatible': ['chat_completions', 'responses', 'messages'],
};

/** Names of the small models that programs use for titles, summaries and the like. */
const small = /haiku|mini|nano|flash|lite|small|tiny/i;

/** The models of a run as programs reach them: whatever a program asks for, one of these serves it. */
export class Upstream {
  readonly #models: readonly UpstreamModel[];

  /** @param models the agent's first */
  constructor(models: readonly UpstreamModel[]) {
    this.#models = models;
  }

  /** The dialects in which the agent's model can be asked, the best first. */
  get dialects(): readonly DialectName[] {
    const [agent] = this.#models;
    return agent === undefined ? [] : dialectsOf[agent.context.kind];
  }

  /** Each model once, by the name that providers know it by. */
  get names(): string[] {
    return [...new Set(this.#models.map(({ name }) => name))];
  }

  /**
   * The model that serves a request: the one that it names, by its own name or its role's (`mlab-fast`); else the fast one
   * for what is named like a small model, and the agent's for all else. Null where none is asked in this dialect.
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
