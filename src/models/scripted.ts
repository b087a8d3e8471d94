import type { ModelPrice, ModelRequest, ModelRoles } from '../schema/index.ts';
import type { Clock } from './clock.ts';
import type { AskOptions, CallEstimate, LanguageModels, ModelCall } from './language-models.ts';
import { CallLimiter } from './limiter.ts';
import type { ProviderReply } from './provider-adapter.ts';
import { type RoleModel, RoleModels } from './role-models.ts';
import { defaultRoles } from './role-settings.ts';
import { parseReply, performReply, type ScriptedReplyInput, ScriptPosition } from './script.ts';

/** Gives the reply to a request; `index` counts attempts, from 0. */
export type ScriptedReplies =
  | readonly ScriptedReplyInput[]
  | ((request: ModelRequest, index: number) => ScriptedReplyInput);

export interface ScriptedModelsOptions {
  /** Of all roles; null: not known. */
  price?: ModelPrice | null;
}

const name = 'scripted/script';

/**
 * Language models with predefined replies, for tests and examples. Deterministic, and without real waiting: transient
 * failures are retried at once, in simulated time.
 */
export class ScriptedModels implements LanguageModels {
  readonly roles = scriptedRoles();
  /** All requests, in order. */
  readonly requests: ModelRequest[] = [];
  readonly #models: RoleModels;

  constructor(replies: ScriptedReplies, { price = null }: ScriptedModelsOptions = {}) {
    const clock = ownTime();
    const limiter = new CallLimiter({ concurrent: 8, clock });
    const reply = replier(replies);
    const model = { price, limiter, attempts: 8 };
    const adapterFor: RoleModel['adapterFor'] = async (request) => ({ call: async () => reply(request) });
    this.#models = new RoleModels(
      {
        agent: { ...model, settings: this.roles.agent, adapterFor },
        editor: { ...model, settings: this.roles.editor, adapterFor },
        fast: { ...model, settings: this.roles.fast, adapterFor },
      },
      clock,
    );
  }

  estimate(request: ModelRequest): CallEstimate {
    return this.#models.estimate(request);
  }

  ask(request: ModelRequest, options: AskOptions): Promise<ModelCall> {
    this.requests.push(request);
    return this.#models.ask(request, options);
  }
}

function replier(replies: ScriptedReplies): (request: ModelRequest) => ProviderReply {
  if (typeof replies === 'function') {
    let index = 0;
    return (request) => {
      const place = index++;
      return performReply(parseReply(replies(request, place), `Reply ${place + 1}`), `${name}#${place + 1}`);
    };
  }
  const parsed = replies.map((reply, index) => parseReply(reply, `Reply ${index + 1}`));
  const position = new ScriptPosition({ name, replies: parsed });
  return (request) => position.next(request);
}

function scriptedRoles(): ModelRoles {
  return {
    agent: { model: name, ...defaultRoles.agent },
    editor: { model: name, ...defaultRoles.editor },
    fast: { model: name, ...defaultRoles.fast },
  };
}

/** A clock that only waiting advances. */
function ownTime(): Clock {
  let now = 0;
  return {
    now: () => now,
    async sleep(milliseconds, signal) {
      signal.throwIfAborted();
      now += milliseconds;
    },
    random: () => 0.5,
  };
}
