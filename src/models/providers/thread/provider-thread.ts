/** The thread of the providers, see `connectInThread`. */
import { lowerPriority } from '../../../lib/lower-priority.ts';
import { answerCalls } from '../../../lib/threads/answer-calls.ts';
import { type ProviderAdapter, ProviderCut, ProviderError } from '../../provider-adapter.ts';
import { createProviderAdapter } from '../create-provider-adapter.ts';
import type { ProviderJob, ProviderOutcome } from './jobs.ts';

const niceness = 5;
const adapters = new Map<number, ProviderAdapter>();

// On Linux this affects only this thread. A reply may wait a little: whatever else happens in the runs may not.
if (process.platform === 'linux') lowerPriority(niceness);

answerCalls<ProviderJob, ProviderOutcome>(async (job, signal) => {
  try {
    return await perform(job, signal);
  } catch (error) {
    if (error instanceof ProviderCut) return { kind: 'cut', usage: error.usage };
    if (!(error instanceof ProviderError)) throw error;
    const { failure, message, isPassing, retryAfterMs, hint, usage } = error;
    return { kind: 'failed', error: { failure, message, isPassing, retryAfterMs, hint, usage } };
  }
});

async function perform(job: ProviderJob, signal: AbortSignal): Promise<ProviderOutcome> {
  if (job.kind === 'connect') {
    adapters.set(job.adapter, await createProviderAdapter(job.name, job.settings, job.variables));
    return { kind: 'connected' };
  }
  const adapter = adapters.get(job.adapter);
  if (adapter === undefined) return { kind: 'unknown' };
  return { kind: 'replied', reply: await adapter.call(job.request, signal) };
}
