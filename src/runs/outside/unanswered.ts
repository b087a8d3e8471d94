import type { Ending } from '../../environment/index.ts';
import type { CallRecord, ModelGateway, ModelUnavailable } from '../../models/index.ts';
import { ModelFailure, type ModelRequest } from '../../schema/index.ts';
import { archivedAttempts, type RunFolder } from '../../store/index.ts';
import { overLimit } from './how-it-ended.ts';

const plainQuestion: ModelRequest = {
  role: 'agent',
  purpose: 'ping',
  messages: [{ role: 'user', text: 'Answer with the one word: ready' }],
};

/**
 * How a run ended whose program got no answer to its last request. A provider's failure is not the program's fault, and
 * the run is tried again. But a program could cause such failures so that its run is never counted. So if an earlier
 * attempt ended in the same way and the model now answers a plain question, the failure is the program's own. If the
 * run's limits do not allow that question, they end the run.
 * @throws the failure itself if it is the provider's
 */
export async function endUnanswered(
  failure: ModelUnavailable,
  run: {
    folder: RunFolder;
    gateway: ModelGateway;
    called: (call: CallRecord) => void;
    signal: AbortSignal;
  },
): Promise<Ending> {
  const { folder, gateway, called, signal } = run;
  if (!archivedAttempts(folder).some(endedUnanswered)) throw failure;
  const reply = await gateway.ask(plainQuestion, { signal, record: called });
  if (reply.kind === 'over_quota' && reply.quota === 'own') return overLimit(reply);
  if (reply.kind !== 'answered') throw failure;
  const message = `The program's last request was not answered, as in an attempt before, while the model answers a plain question: ${failure.message}`;
  return { reason: 'agent_error', message, finalAnswer: null };
}

function endedUnanswered(attempt: RunFolder): boolean {
  const end = attempt.readRecord()?.end;
  return end?.reason === 'infrastructure_error' && ModelFailure.safeParse(end.cause).success;
}
