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
  /** What the provider calls the model that answered; null where it did not say. */
  answeredBy: string | null;
  latencyMs: number;
  /** In the queue, between tries and on failed tries. */
  waitingMs: number;
  attempts: FailedAttempt[];
}

/** The most that a call can come to, before it is made. */
export interface CallEstimate {
  tokens: number;
  /** In US dollars; null where the price is not known. */
  money: number | null;
}

export interface AskOptions {
  /** Ends the call, and the waiting for it. */
  signal: AbortSignal;
  /** Told of every try that failed, before the wait for the next one. */
  onRetry?: (attempt: FailedAttempt) => void;
  /**
   * Whether all tries of the call may come to this much together: where one that came to nothing is paid for, it is tried
   * again only where that fits, too. Default: they may.
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
   * @throws ModelUnavailable when there is none: not the agent's doing; when the signal is aborted CallCut, or the signal's
   * reason where nothing is paid for
   */
  ask(request: ModelRequest, options: AskOptions): Promise<ModelCall>;
}

/** Of a call that came to nothing before anything was paid for. */
const noCharge: CallCharge = {
  usage: { input: 0, cached_input: 0, cache_write: 0, output: 0, reasoning: 0, source: 'provider' },
  cost: 0,
};

/** The call was cut off by its signal while a try was under way, or after one that is paid for. */
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

/** No answer came, although it was asked for as often as makes sense. */
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
