import type {
  CallCharge,
  CallFailure,
  DialectName,
  FailedAttempt,
  ModelAnswer,
  ModelRequest,
  RoleSettings,
} from '../../schema/index.ts';
import type { ModelUnavailable } from '../language-models.ts';

/** Whoever a model is asked for. */
export interface Caller {
  /** Aborts the call, and the wait for it. */
  signal: AbortSignal;
  /** A recorded answer that replaces a call; null if there is none. */
  recorded?: (request: ModelRequest) => AnsweredCall | null;
  /** Called with each call that was made, whatever its outcome. */
  record?: ((call: CallRecord) => void) | undefined;
  onProgress?: (progress: CallProgress) => void;
}

export type CallProgress =
  | { kind: 'asked' }
  /** A try failed; the gateway waits before the next one. */
  | { kind: 'retry'; attempt: FailedAttempt }
  /**
   * Time that does not count for the caller, as others use the quota or the provider accepts no calls: milliseconds
   * that have just passed, or the time until a promise settles.
   */
  | { kind: 'waited'; time: number | Promise<unknown> };

/** A call that was made. Its cost has already been charged. */
export interface CallRecord extends CallCharge {
  request: ModelRequest;
  settings: RoleSettings;
  /** Null if there was none. */
  answer: ModelAnswer | null;
  /** The provider's name for the model that answered; null if it did not report one. */
  answeredBy: string | null;
  failure: { failure: CallFailure; message: string } | null;
  latencyMs: number;
  /** Milliseconds in the queue, between attempts and on failed attempts. */
  waitingMs: number;
  attempts: readonly FailedAttempt[];
  /** Only for a call that a program made in a provider's dialect. */
  wire?: WireExchange;
}

/** What was sent between a program and the gateway. */
export interface WireExchange {
  dialect: DialectName;
  /** The requested path, without the query. */
  path: string;
  /** The status that the program got; null if it had disconnected by then. */
  status: number | null;
  /** The bodies as the program and the provider sent them, without keys. */
  request: string;
  response: string;
}

export interface AnsweredCall extends CallCharge {
  kind: 'answered';
  answer: ModelAnswer;
  answeredBy: string | null;
  latencyMs: number;
}

/** The call might have exceeded a quota, and was not made. */
export interface OverQuota {
  kind: 'over_quota';
  /** The caller's own quota, or the one that it shares with others. */
  quota: 'own' | 'shared';
  exceeded: 'tokens' | 'money';
  message: string;
}

/** The outcome of a request. `unavailable`: no answer, after all reasonable attempts. */
export type GatewayReply = AnsweredCall | OverQuota | { kind: 'unavailable'; error: ModelUnavailable };
