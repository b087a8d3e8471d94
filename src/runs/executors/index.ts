import { UserError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Experiment } from '../../store/index.ts';
import type { ExecutorKind, ExecutorPlace, RemoteExecutor } from './executor-kind.ts';
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
