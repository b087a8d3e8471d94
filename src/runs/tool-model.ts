import {
  CallCut,
  type CallEstimate,
  type ModelRegistry,
  ModelUnavailable,
  Quota,
  type Reservation,
} from '../models/index.ts';
import type { ModelRequest, RunSpec, ToolReply } from '../schema/index.ts';
import type { AskForTool } from '../services/index.ts';
import type { Task } from '../tasks/index.ts';

/** The language models of an experiment, as its runs share them. */
export interface ExperimentModels {
  registry: ModelRegistry;
  /** What all runs together may use; null: not limited. */
  shared: Quota | null;
}

/**
 * What answers the tools of submitted code while it is graded: the models of its run, each process with a quota of
 * its own. Undefined where the run has no model or the task offers none.
 */
export function toolModelFor(
  spec: RunSpec,
  { file }: Task,
  models: ExperimentModels | undefined,
): (() => AskForTool) | undefined {
  const service = file.services.find(({ kind }) => kind === 'model');
  const { roles } = spec;
  if (service?.kind !== 'model' || roles === undefined || models === undefined) return undefined;
  return () => {
    const { registry, shared } = models;
    const tokens = service.graded_tokens;
    const quota = new Quota({ of: 'a submission that is graded', tokens });
    const languageModels = registry.forRun(roles);
    const quotas = shared === null ? [quota] : [quota, shared];
    return (request, signal) => ask(request, languageModels, quotas, signal);
  };
}

async function ask(
  request: ModelRequest,
  models: ReturnType<ModelRegistry['forRun']>,
  [own, shared]: Quota[],
  signal: AbortSignal,
): Promise<ToolReply> {
  const estimate = models.estimate(request);
  const reservations: Reservation[] = [];
  try {
    for (const quota of [own, shared]) {
      const room = await quota?.reserveWhenFree(estimate, signal);
      if (room?.kind === 'reserved') reservations.push(room.reservation);
      if (room?.kind !== 'exceeded') continue;
      // What other runs used up says nothing about this submission.
      return { kind: quota === own ? 'over_budget' : 'unavailable', message: room.message };
    }
    const reserve = (most: CallEstimate) => reservations.every((reservation) => reservation.raise(most));
    const { answer, usage, cost } = await models.ask(request, { signal, reserve });
    for (const reservation of reservations) reservation.settle({ usage, cost });
    return { kind: 'answer', answer, usage, cost };
  } catch (error) {
    const isCut = CallCut.isInstance(error);
    if (!isCut && !ModelUnavailable.isInstance(error)) throw error;
    const { message, charge } = error;
    for (const reservation of reservations) reservation.settle(charge);
    if (isCut) return { kind: 'closed', message, charge };
    return { kind: error.failure === 'bad_request' ? 'bad_request' : 'unavailable', message, charge };
  } finally {
    // After one was settled, nothing is left to release.
    for (const reservation of reservations) reservation.release();
  }
}
