import { setImmediate as othersTurn } from 'node:timers/promises';
import { errorName, hasCode, messageOf, UserError } from '../lib/errors.ts';
import type { RunSpec } from '../schema/index.ts';
import type { RunFolder } from '../store/index.ts';
import { loadTask, sampleCaveat } from '../tasks/index.ts';
import type { Context } from './context.ts';
import { plain } from './table.ts';
import { provision, type ResourceFlags } from './task-resources.ts';

/** What went wrong with some runs. */
export interface RunFailure {
  runs: string[];
  message: string;
  hint: string;
}

/**
 * Does something with each run. An error in one of several never stops the others: errors are reported at the end, once
 * for all runs with the same error.
 * @throws the error of the only run, or of the place if all are in a read-only one; also if the signal is aborted
 */
export async function forEachRun<Run extends { folder: RunFolder }>(
  { signal, log, logger }: Context,
  runs: readonly Run[],
  act: (run: Run) => Promise<void>,
): Promise<RunFailure[]> {
  const failed: { run: string; error: unknown }[] = [];
  for (const run of runs) {
    // Lets Ctrl-C be handled between two runs, even if neither awaits anything.
    await othersTurn();
    signal.throwIfAborted();
    try {
      await act(run);
    } catch (error) {
      if (runs.length === 1 || signal.aborted) throw error;
      logger.write('error', 'command_failed', { run: run.folder.id, error: errorName(error) });
      if (failed.every((earlier) => earlier.error !== error))
        log(`${run.folder.id}: ${plain(messageOf(error))}`);
      failed.push({ run: run.folder.id, error });
    }
  }
  if (failed.length === runs.length && failed.every(({ error }) => hasCode(error, 'EROFS')))
    for (const { error } of failed) throw error;
  return [...Map.groupBy(failed, ({ error }) => error)].map(([error, together]) => ({
    runs: together.map(({ run }) => run),
    message: messageOf(error),
    hint: UserError.isInstance(error) ? error.hint : '',
  }));
}

/** @param what could not be done with the runs, such as `Not graded` */
export function failuresText(what: string, failures: readonly RunFailure[]): string {
  const indented = (text: string) => (text === '' ? [] : [`  ${plain(text).replaceAll('\n', '\n  ')}`]);
  return failures
    .map(({ runs, message, hint }) =>
      [`${what}: ${runs.join(', ')}.`, ...indented(message), ...indented(hint)].join('\n'),
    )
    .join('\n\n');
}

/** Data and environments of the tasks of runs: each is provisioned, or fails, once. */
export function resourcesOfRuns(context: Context, options: ResourceFlags) {
  const provisioned = new Map<string, ReturnType<typeof provision>>();
  const provisionTask = async (id: string, sample: boolean) =>
    await provision(context, loadTask(id, context.folders.tasks), { ...options, sample });
  return ({ task, caveats }: RunSpec) => {
    const sample = caveats.includes(sampleCaveat);
    const key = `${task} ${sample}`;
    const resources = provisioned.get(key) ?? provisionTask(task, sample);
    provisioned.set(key, resources);
    return resources;
  };
}
