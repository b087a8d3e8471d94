import type { ModelAnswer, ModelFailure, ModelMessage, ModelTool, TokenUsage } from '../schema/index.ts';

/** The content of one attempt. */
export interface ProviderRequest {
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  stop: readonly string[];
  /** Null: the provider's own. */
  temperature: number | null;
  maxOutputTokens: number;
}

export interface ProviderReply {
  answer: ModelAnswer;
  /** The provider's name for the model that answered; null if it gave none. */
  answeredBy: string | null;
  /** Null if the provider gave no counts. */
  usage: TokenUsage | null;
}

/** One model of one provider: each call is one attempt, without waiting and without retries. */
export interface ProviderAdapter {
  /** @throws ProviderError; if the signal was aborted ProviderCut, or the signal's reason if nothing was sent */
  call(request: ProviderRequest, signal: AbortSignal): Promise<ProviderReply>;
}

/** Why one attempt failed. Its message contains no key. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly failure: ModelFailure;
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean;
  /** How long the provider asked to wait; null if it did not say. */
  readonly retryAfterMs: number | null;
  /** What a person can do about it. */
  readonly hint: string;
  /** The charge of the attempt, as far as it is known; null if the provider had not begun to answer. */
  readonly usage: TokenUsage | null;

  constructor(
    failure: ModelFailure,
    message: string,
    {
      isPassing,
      retryAfterMs = null,
      hint,
      usage = null,
    }: { isPassing: boolean; retryAfterMs?: number | null; hint: string; usage?: TokenUsage | null },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.failure = failure;
    this.isPassing = isPassing;
    this.retryAfterMs = retryAfterMs;
    this.hint = hint;
    this.usage = usage;
  }
}

/** The attempt was cut off by its signal after the request had been sent. */
export class ProviderCut extends Error {
  override readonly name = 'ProviderCut';
  /** As in `ProviderError`. */
  readonly usage: TokenUsage;

  constructor(usage: TokenUsage) {
    super('the call was cut off');
    this.usage = usage;
  }
}
