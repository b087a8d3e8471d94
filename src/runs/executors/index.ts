import { UserError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import { type Experiment, noteCancelling, noteUnqueued, openFleet } from '../../store/index.ts';
import type { Cancellation, ExecutorKind, ExecutorPlace, RemoteExecutor } from './executor-kind.ts';
import { kubernetes } from './kubernetes/index.ts';
import { redis } from './redis/index.ts';
import { slurm } from './slurm/index.ts';

/** The remote executors. */
const kinds: readonly ExecutorKind[] = [slurm, redis, kubernetes];
const local = 'local';

/** The values of `--on`. */
export const executorNames: readonly string[] = [local, ...kinds.map(({ name }) => name)];

/**
 * Where the jobs of an experiment are executed: as requested now, or else as before.
 * @throws UserError `unknown_executor`
 */
export function chooseExecutor(wanted: string | undefined, recorded: string | null): ExecutorKind | null {
  const on = wanted ?? recorded ?? local;
  if (on === local) return null;
  const kind = kinds.find((each) => each.matches(on));
  if (kind !== undefined) return kind;
  const meant = nearest(on, executorNames);
  throw new UserError(
    'unknown_executor',
    `There is no executor "${on}".`,
    `${meant === null ? '' : `Did you mean "${meant}"? `}Choose one for --on: ${executorNames.join(', ')}.`,
  );
}

/** Opens the executor, and records where the experiment's jobs are now; null: they are executed in this process. */
export async function executorFor(
  wanted: string | undefined,
  experiment: Experiment,
  place: Omit<ExecutorPlace, 'experiment'>,
): Promise<RemoteExecutor | null> {
  const before = experiment.executor;
  const kind = chooseExecutor(wanted, before);
  const on = wanted ?? before ?? local;
  const recorded = kind?.recorded(on) ?? local;
  if (before !== null && before !== recorded)
    place.log(
      `Jobs of ${experiment.plan.name} were on ${before} before; what is still there finds each run done or held.`,
    );
  if ((before ?? local) !== recorded) experiment.recordExecutor(recorded);
  return kind === null ? null : await kind.open(on, { ...place, experiment });
}

/**
 * Cancels the jobs that an experiment has elsewhere, whoever submitted them. Commands that follow them stop, unless only
 * some of its runs are cancelled.
 * @param kind as `chooseExecutor` returns it for the same arguments
 * @param runs default: all
 */
export async function cancelJobs(
  kind: ExecutorKind,
  wanted: string | undefined,
  place: ExecutorPlace,
  runs?: ReadonlySet<string>,
): Promise<Cancellation> {
  const { experiment } = place;
  const on = wanted ?? experiment.executor ?? kind.name;
  await using canceller = await (kind.openCanceller?.(on, place) ?? kind.open(on, place));
  if (runs === undefined) await noteCancelling(experiment.folder);
  // Before Slurm forgets them: a command that follows them would take them for lost, and submit them again.
  else await noteCancelled(experiment, runs);
  const cancellation = await canceller.cancel(runs);
  if (cancellation.problem === null) await noteCancelled(experiment, runs);
  else if (runs !== undefined) {
    const kept = experiment.runIds.filter((id) => runs.has(id));
    await noteUnqueued(experiment.folder, kept, null);
  }
  return cancellation;
}

/** Notes for the runs that have not ended, or for these of them, that nobody will begin them. */
export async function noteCancelled(experiment: Experiment, runs?: ReadonlySet<string>): Promise<void> {
  const { queued, begun } = openFleet(experiment.folder);
  const stopped = (begun?.runIds ?? []).filter((id) => {
    const status = experiment.runFolder(id).readRecord()?.status;
    return status === undefined || ['pending', 'running', 'interrupted'].includes(status);
  });
  const cancelled = [...queued, ...stopped].filter((id) => runs?.has(id) !== false);
  const reason = { state: 'cancelled', why: 'cancelled; the same mlab run submits it again' } as const;
  await noteUnqueued(experiment.folder, cancelled, reason);
}
