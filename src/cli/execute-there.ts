import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gate } from '../environment/index.ts';
import { hasCode, UserError } from '../lib/errors.ts';
import { chooseExecutor, executorFor, type RemoteExecutor } from '../runs/index.ts';
import type { ExperimentFile, Plan } from '../schema/index.ts';
import { type Experiment, openExperiment } from '../store/index.ts';
import type { Context } from './context.ts';

/** How long a second Ctrl-C is waited for. */
const secondWithinMs = 5_000;

const words = {
  first:
    'the jobs go on where they are; the same command follows them again. Ctrl-C again within 5 s cancels them.',
  second: 'cancelling the jobs.',
};

/**
 * Whether this process executes the runs itself.
 * @throws UserError where they are to be executed elsewhere, and need somebody who is here
 */
export function isHere(
  context: Context,
  plan: Plan,
  wanted: ExperimentFile,
  gate: Gate | undefined,
): boolean {
  const kind = chooseExecutor(wanted.executor.on, executorBefore(context, plan));
  if (kind === null) return true;
  if (gate === undefined && !wanted.interactive) return false;
  throw new UserError(
    'no_person',
    `Nobody can be asked by a run that is executed on ${kind.name}.`,
    'Leave out --approve and --interactive, or use --approve-later: mlab decide answers from anywhere.',
  );
}

function executorBefore({ folders }: Context, { name }: Plan): string | null {
  try {
    return openExperiment(join(folders.experiments, name)).executor;
  } catch (error) {
    if (hasCode(error, 'no_experiment')) return null;
    throw error;
  }
}

/** Executes a plan where it is wanted, or where it was given to before. Ctrl-C leaves jobs alone that are elsewhere; a second one ends them. */
export async function executeThere<Result>(
  context: Context,
  { executor: settings, parallel }: ExperimentFile,
  experiment: Experiment,
  execute: (executor?: RemoteExecutor) => Promise<Result>,
): Promise<Result> {
  const { signal, log, variables } = context;
  const command = [process.execPath, join(context.folders.package, 'bin/mlab.mjs'), ...context.placeWords];
  const place = { settings, parallel, command, variables, log, signal };
  await using executor = await executorFor(settings.on, experiment, place);
  if (executor === null) return await execute();
  const cancelled = context.detachable(words);
  const result = await execute(executor);
  if (!signal.aborted) return result;
  await sleep(secondWithinMs, undefined, { signal: cancelled }).catch(() => {});
  if (cancelled.aborted) log(await executor.cancel());
  return result;
}
