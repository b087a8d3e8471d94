import type {
  CallCharge,
  FailedAttempt,
  ModelAnswer,
  ModelFailure,
  ModelRequest,
  ModelRoles,
} from '../schema/index.ts';

/** One call that was answered. */
export interface ModelCall extends CallCharge {
  answer: ModelAnswer;
  /** The provider's name for the model that answered; null if it gave none. */
  answeredBy: string | null;
  latencyMs: number;
  /** In the queue, between attempts and in failed attempts. */
  waitingMs: number;
  attempts: FailedAttempt[];
}

/** The maximum of a call, before it is made. */
export interface CallEstimate {
  tokens: number;
  /** In US dollars; null if the price is unknown. */
  money: number | null;
}

export interface AskOptions {
  /** Ends the call, and the waiting for it. */
  signal: AbortSignal;
  /** Called for every failed attempt, before the wait for the next one. */
  onRetry?: (attempt: FailedAttempt) => void;
  /** Called when the call has to wait until this settles: in the queue, and between attempts. */
  onWait?: (until: Promise<unknown>) => void;
  /**
   * Whether all attempts of the call together may cost this much: after a failed attempt that was charged, another is
   * made only if this allows it. Default: always.
   */
  reserve?: (most: CallEstimate) => boolean | Promise<boolean>;
}

/** The language models of one run, by role. */
export interface LanguageModels {
  readonly roles: ModelRoles;
  /** An upper bound on what this request can use. */
  estimate(request: ModelRequest): CallEstimate;
  /**
   * Asks until there is an answer.
   * @throws ModelUnavailable if there is none, which is not the agent's fault; if the signal is aborted CallCut, or the
   *   signal's reason if nothing was charged
   */
  ask(request: ModelRequest, options: AskOptions): Promise<ModelCall>;
}

/** For a call that failed before anything was charged. */
const noCharge: CallCharge = {
  usage: { input: 0, cached_input: 0, cache_write: 0, output: 0, reasoning: 0, source: 'provider' },
  cost: 0,
};

/** The call was cut off by its signal during an attempt, or after one that was charged. */
export class CallCut extends Error {
  override readonly name = 'CallCut';
  readonly charge: CallCharge;

  constructor(charge: CallCharge) {
    super('the call was cut off');
    this.charge = charge;
  }
  static isInstance(error: unknown): error is CallCut {
    return error instanceof Error && error.name === 'CallCut';
  }
}

/** No answer came in spite of all reasonable retries. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable';
  readonly failure: ModelFailure;
  /** What to do about it. */
  readonly hint: string;
  readonly attempts: readonly FailedAttempt[];
  readonly charge: CallCharge;

  constructor(
    failure: ModelFailure,
    message: string,
    hint: string,
    attempts: readonly FailedAttempt[],
    charge: CallCharge = noCharge,
  ) {
    super(message);
    this.failure = failure;
    this.hint = hint;
    this.attempts = attempts;
    this.charge = charge;
  }
  static isInstance(error: unknown): error is ModelUnavailable {
    return error instanceof Error && error.name === 'ModelUnavailable';
  }
}
