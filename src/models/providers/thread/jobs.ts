import type { ProviderSettings, TokenUsage } from '../../../schema/index.ts';
import type { ProviderError, ProviderReply, ProviderRequest } from '../../provider-adapter.ts';
import type { ProviderVariables } from '../provider-state.ts';

/** A job for the thread of the providers. Models have numbers. */
export type ProviderJob =
  | {
      kind: 'connect';
      adapter: number;
      name: string;
      settings: ProviderSettings;
      variables: ProviderVariables;
    }
  | { kind: 'ask'; adapter: number; request: ProviderRequest };

export type ProviderOutcome =
  | { kind: 'connected' }
  /** The thread is another than the one that knew this model. */
  | { kind: 'unknown' }
  | { kind: 'replied'; reply: ProviderReply }
  | { kind: 'failed'; error: Omit<ProviderError, keyof Error> & { message: string } }
  | { kind: 'cut'; usage: TokenUsage };
