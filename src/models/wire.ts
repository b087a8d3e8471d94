import type { ModelAnswer, ModelFailure, ModelMessage, ModelTool, TokenUsage } from '../schema/index.ts';

/** What one try sends. */
export interface WireRequest {
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  stop: readonly string[];
  /** Null: the provider's own. */
  temperature: number | null;
  maxOutputTokens: number;
}

export interface WireReply {
  answer: ModelAnswer;
  /** What the provider calls the model that answered; null where it did not say. */
  answeredBy: string | null;
  /** Null where the provider gave no counts. */
  usage: TokenUsage | null;
}

/** One model of one provider, as it is reached: one call is one try, with no waiting and no second try. */
export interface WireModel {
  /** @throws WireError, or the signal's reason when it was aborted */
  call(request: WireRequest, signal: AbortSignal): Promise<WireReply>;
}

/** What one try failed with. No key is in its message. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly failure: ModelFailure;
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean;
  /** How long the provider asked to wait; null where it did not say. */
  readonly retryAfterMs: number | null;
  /** What a person can do about it. */
  readonly hint: string;

  constructor(
    failure: ModelFailure,
    message: string,
    {
      isPassing,
      retryAfterMs = null,
      hint,
    }: { isPassing: boolean; retryAfterMs?: number | null; hint: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.failure = failure;
    this.isPassing = isPassing;
    this.retryAfterMs = retryAfterMs;
    this.hint = hint;
  }
}
