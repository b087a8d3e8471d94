import type {
  FailedAttempt,
  ModelAnswer,
  ModelFailure,
  ModelRequest,
  ModelRoles,
  TokenUsage,
} from '../schema/index.ts';

/** One call that was answered. */
export interface ModelCall {
  answer: ModelAnswer;
  /** What the provider calls the model that answered; null where it did not say. */
  answeredBy: string | null;
  usage: TokenUsage;
  /** In US dollars; null where the price is not known. */
  cost: number | null;
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
  /** Ends the call, and the waiting for it. `ask` then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Told of every try that failed, before the wait for the next one. */
  onRetry?: (attempt: FailedAttempt) => void;
  /** What is kept for the call: an empty answer, which is paid for, is asked for again only where that fits, too. */
  reserved?: CallEstimate;
}

/** The language models of one run, by role. */
export interface LanguageModels {
  readonly roles: ModelRoles;
  /** An upper bound on what this request can use. */
  estimate(request: ModelRequest): CallEstimate;
  /**
   * Asks until there is an answer.
   * @throws ModelUnavailable when there is none: not the agent's doing
   */
  ask(request: ModelRequest, options: AskOptions): Promise<ModelCall>;
}

/** No answer came, although it was asked for as often as makes sense. */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable';
  readonly failure: ModelFailure;
  /** What to do about it. */
  readonly hint: string;
  readonly attempts: readonly FailedAttempt[];

  constructor(failure: ModelFailure, message: string, hint: string, attempts: readonly FailedAttempt[]) {
    super(message);
    this.failure = failure;
    this.hint = hint;
    this.attempts = attempts;
  }
  static isInstance(error: unknown): error is ModelUnavailable {
    return error instanceof Error && error.name === 'ModelUnavailable';
  }
}
