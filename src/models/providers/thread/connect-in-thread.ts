import { extname, join } from 'node:path';
import { ownTurn } from '../../../lib/own-turn.ts';
import { CallingThread } from '../../../lib/threads/calling-thread.ts';
import type { ProviderSettings } from '../../../schema/index.ts';
import {
  type ProviderAdapter,
  ProviderCut,
  ProviderError,
  type ProviderRequest,
} from '../../provider-adapter.ts';
import type { ProviderVariables } from '../provider-state.ts';
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
  variables: ProviderVariables,
): Promise<ProviderAdapter> {
  const adapter = ++adapters;
  const connect = async () =>
    refuseFailed(
      await thread.call({ kind: 'connect', adapter, name, settings, variables: { ...variables } }),
    );
  const ask = async (request: ProviderRequest, signal: AbortSignal) => {
    signal.throwIfAborted();
    return await thread.call({ kind: 'ask', adapter, request }, signal);
  };
  await connect();
  return {
    async call(request, signal) {
      let outcome = await ask(request, signal);
      if (outcome.kind === 'unknown') {
        await connect();
        outcome = await ask(request, signal);
      }
      // What it leads to takes milliseconds, and hundreds may arrive at once.
      await ownTurn();
      refuseFailed(outcome);
      if (outcome.kind !== 'replied') throw new Error(`the thread answered a call with "${outcome.kind}"`);
      return outcome.reply;
    },
  };
}

/** @throws ProviderError, ProviderCut */
function refuseFailed(outcome: ProviderOutcome): void {
  if (outcome.kind === 'cut') throw new ProviderCut(outcome.usage);
  if (outcome.kind === 'failed')
    throw new ProviderError(outcome.error.failure, outcome.error.message, outcome.error);
}
