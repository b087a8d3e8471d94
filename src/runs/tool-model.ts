import type { ToolModel } from '../grading/index.ts';
import { type ModelRegistry, Quota, type SharedQuota } from '../models/index.ts';
import type { RunSpec } from '../schema/index.ts';
import type { Task } from '../tasks/index.ts';

/** The language models of an experiment, shared by its runs. */
export interface ExperimentModels {
  registry: ModelRegistry;
  /** The quota of all runs together; null: not limited. */
  shared: SharedQuota | null;
}

/** Whether submitted code may ask a model while it is graded. */
export function offersModel({ file }: Task): boolean {
  return file.services.some(({ kind }) => kind === 'model');
}

/**
 * Answers the tools of submitted code while it is graded: uses the models of its run, with a separate quota for each
 * process. Undefined if the run has no model or the task offers none.
 */
export function toolModelFor(
  { roles }: RunSpec,
  { file }: Task,
  models: ExperimentModels | undefined,
): ToolModel | undefined {
  const service = file.services.find(({ kind }) => kind === 'model');
  if (service?.kind !== 'model' || roles === undefined || models === undefined) return undefined;
  return (record) => {
    const gateway = models.registry.gateway(roles, {
      quota: new Quota({ of: 'a submission that is graded', tokens: service.graded_tokens }),
      shared: models.shared,
    });
    return (request, signal) => gateway.ask(request, { signal, record });
  };
}
