import { messageOf } from '../../lib/errors.ts';
import type { CallCharge, FailedAttempt, ModelRequest, ModelRoles } from '../../schema/index.ts';
import { waited } from '../ask-with-retries.ts';
import { CallCut, type LanguageModels, ModelUnavailable } from '../language-models.ts';
import type { Quota, SharedQuota } from '../quota.ts';
import { CallQuotas, type CallReservation } from './call-quotas.ts';
import type { Caller, CallRecord, GatewayReply } from './caller.ts';

export interface ModelGatewayOptions {
  models: LanguageModels;
  quota: Quota;
  /** A quota that is shared with others; default: none. */
  shared?: SharedQuota | null;
}

/**
 * The only way to language models for agents and actions; `ProxyServer` is the one for programs, with the same quotas.
 * Each call is reserved in the quotas, sent until there is an answer, charged for all its attempts, and recorded,
 * whatever its outcome.
 */
export class ModelGateway {
  readonly roles: ModelRoles;
  readonly #models: LanguageModels;
  readonly #quotas: CallQuotas;

  constructor({ models, quota, shared = null }: ModelGatewayOptions) {
    this.roles = models.roles;
    this.#models = models;
    this.#quotas = new CallQuotas(quota, shared);
  }

  /**
   * Asks the model of the request's role.
   * @throws the signal's reason if it is aborted: what the call cost until then is charged and recorded
   */
  async ask(request: ModelRequest, caller: Caller): Promise<GatewayReply> {
    const recorded = caller.recorded?.(request) ?? null;
    if (recorded !== null) return recorded;
    const reserved = await this.#quotas.reserve(this.#models.estimate(request), caller.signal, (time) =>
      caller.onProgress?.({ kind: 'waited', time }),
    );
    if ('kind' in reserved) return reserved;
    using reservation = reserved;
    return await this.#send(request, caller, reservation);
  }

  async #send(
    request: ModelRequest,
    { signal, record, onProgress }: Caller,
    reservation: CallReservation,
  ): Promise<GatewayReply> {
    const settings = this.roles[request.role];
    onProgress?.({ kind: 'asked' });
    const start = performance.now();
    let toldMs = 0;
    const wait = (milliseconds: number) => {
      toldMs += milliseconds;
      onProgress?.({ kind: 'waited', time: milliseconds });
    };
    const attempts: FailedAttempt[] = [];
    const finish = ({ usage, cost }: CallCharge, outcome: Outcome) => {
      reservation.settle({ usage, cost });
      record?.({ request, settings, usage, cost, ...noAnswer, ...outcome });
    };
    const result = await outcomeOf(() =>
      this.#models.ask(request, {
        signal,
        onRetry: (attempt) => {
          attempts.push(attempt);
          wait(attempt.duration_ms);
          onProgress?.({ kind: 'retry', attempt });
        },
        onWait: (until) => {
          const from = performance.now();
          const end = () => {
            toldMs += performance.now() - from;
          };
          until.then(end, end);
          onProgress?.({ kind: 'waited', time: until });
        },
        reserve: (most) => reservation.raise(most),
      }),
    );
    if ('value' in result) {
      const { answer, answeredBy, latencyMs, waitingMs, usage, cost } = result.value;
      wait(Math.max(0, waitingMs - toldMs));
      finish(result.value, { answer, answeredBy, latencyMs, waitingMs, attempts: result.value.attempts });
      return { kind: 'answered', answer, answeredBy, latencyMs, usage, cost };
    }
    const { error } = result;
    if (CallCut.isInstance(error)) {
      const waitingMs = waited(attempts);
      const latencyMs = performance.now() - start - waitingMs;
      const failure = { failure: 'cut_off', message: messageOf(signal.reason) } as const;
      finish(error.charge, { failure, latencyMs, waitingMs, attempts });
    }
    signal.throwIfAborted();
    if (!ModelUnavailable.isInstance(error))
      throw new Error(`The language model can't be asked: ${messageOf(error)}`, { cause: error });
    wait(Math.max(0, performance.now() - start - toldMs));
    const { failure, message } = error;
    const failed = { failure: { failure, message }, attempts: error.attempts };
    finish(error.charge, { ...failed, waitingMs: waited(error.attempts) });
    return { kind: 'unavailable', error };
  }
}

type Outcome = Partial<Omit<CallRecord, 'request' | 'settings' | keyof CallCharge>>;

const noAnswer = {
  ...{ answer: null, answeredBy: null, failure: null, latencyMs: 0, waitingMs: 0, attempts: [] },
};

/** Separates errors of the call from errors of reporting it, such as a full disk. */
async function outcomeOf<Value>(work: () => Promise<Value>): Promise<{ value: Value } | { error: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}
