import type { ModelAnswer, ModelFailure, ModelMessage, ModelTool, TokenUsage } from '../schema/index.ts';

/** What one try sends. */
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
  /** What the provider calls the model that answered; null where it did not say. */
  answeredBy: string | null;
  /** Null where the provider gave no counts. */
  usage: TokenUsage | null;
}

/** One model of one provider, as it is reached: one call is one try, with no waiting and no second try. */
export interface ProviderAdapter {
  /** @throws ProviderError; when the signal was aborted ProviderCut, or the signal's reason where nothing was sent */
  call(request: ProviderRequest, signal: AbortSignal): Promise<ProviderReply>;
}

/** What one try failed with. No key is in its message. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly failure: ModelFailure;
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean;
  /** How long the provider asked to wait; null where it did not say. */
  readonly retryAfterMs: number | null;
  /** What a person can do about it. */
  readonly hint: string;
  /** What the provider charges the try with, as far as it can be told; null where it had not begun to answer. */
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

/** The try was cut off by its signal after the request had been sent. */
export class ProviderCut extends Error {
  override readonly name = 'ProviderCut';
  /** As in `ProviderError`. */
  readonly usage: TokenUsage;

  constructor(usage: TokenUsage) {
    super('the call was cut off');
    this.usage = usage;
  }
}
