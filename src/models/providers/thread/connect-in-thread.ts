import { extname, join } from 'node:path';
import { ownTurn } from '../../../lib/own-turn.ts';
import { CallingThread } from '../../../lib/threads/calling-thread.ts';
import type { ProviderSettings } from '../../../schema/index.ts';
import {
  type ProviderAdapter,
  ProviderCut,
  ProviderError,
  type ProviderReply,
} from '../../provider-adapter.ts';
import type { Variables } from '../provider-state.ts';
import type { ProviderJob, ProviderOutcome } from './jobs.ts';

const module = join(import.meta.dirname, `provider-thread${extname(import.meta.filename)}`);
const thread = new CallingThread<ProviderJob, ProviderOutcome>(module, 'asks language models');
let adapters = 0;

/**
 * As `createProviderAdapter`, but what reads and writes the network is a thread, one for all models of this process. To
 * take a reply apart as it arrives costs milliseconds and much memory; so the runs wait for neither.
 */
export async function connectInThread(
  name: string,
  settings: ProviderSettings,
  variables: Variables,
): Promise<ProviderAdapter> {
  const adapter = ++adapters;
  replyOf(await thread.call({ kind: 'connect', adapter, name, settings, variables: { ...variables } }));
  return {
    async call(request, signal) {
      signal.throwIfAborted();
      const reply = replyOf(await thread.call({ kind: 'ask', adapter, request }, signal));
      // What it leads to takes milliseconds, and hundreds may arrive at once.
      await ownTurn();
      if (reply === null) throw new Error('the thread gave no reply');
      return reply;
    },
  };
}

/** @throws ProviderError, ProviderCut */
function replyOf(outcome: ProviderOutcome): ProviderReply | null {
  switch (outcome.kind) {
    case 'connected':
      return null;
    case 'replied':
      return outcome.reply;
    case 'cut':
      throw new ProviderCut(outcome.usage);
    case 'failed':
      throw new ProviderError(outcome.error.failure, outcome.error.message, outcome.error);
  }
}
