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

/** On whose behalf a model is asked. */
export interface Caller {
  /** Ends the call, and the waiting for it. */
  signal: AbortSignal;
  /** An answer that was recorded and is given instead of a call; null where there is none. */
  recorded?: (request: ModelRequest) => AnsweredCall | null;
  /** Told of each call that was made, whatever came of it. */
  record?: ((call: CallRecord) => void) | undefined;
  onProgress?: (progress: CallProgress) => void;
}

export type CallProgress =
  | { kind: 'asked' }
  /** A try failed; it is waited before the next one. */
  | { kind: 'retry'; attempt: FailedAttempt }
  /** Time passed that is not the caller's: others used the quota, or the provider took no call. */
  | { kind: 'waited'; milliseconds: number };

/** A call that was made. What it is charged with is charged already. */
export interface CallRecord extends CallCharge {
  request: ModelRequest;
  settings: RoleSettings;
  /** Null where none came. */
  answer: ModelAnswer | null;
  /** What the provider calls the model that answered; null where it did not say. */
  answeredBy: string | null;
  failure: { failure: CallFailure; message: string } | null;
  latencyMs: number;
  /** In the queue, between tries and on failed tries. */
  waitingMs: number;
  attempts: readonly FailedAttempt[];
  /** Of a call that a program made in a provider's dialect. */
  wire?: WireExchange;
}

/** What went over the wire between a program and the gateway. */
export interface WireExchange {
  dialect: DialectName;
  /** What was asked for, without the query. */
  path: string;
  /** What the program was answered with; null where it was gone by then. */
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
  /** The caller's own one, or the one that it shares with others. */
  quota: 'own' | 'shared';
  exceeded: 'tokens' | 'money';
  message: string;
}

/** What came of asking. `unavailable`: no answer, although it was asked for as often as makes sense. */
export type GatewayReply = AnsweredCall | OverQuota | { kind: 'unavailable'; error: ModelUnavailable };
