import { join } from 'node:path';
import { hasCode } from '../../../lib/errors.ts';
import { shellWord } from '../../../lib/shell-word.ts';
import type { RunSpec, SlurmSettings } from '../../../schema/index.ts';
import { gradeResources, runResources } from '../../jobs/make-jobs.ts';
import type { PlannedPlace } from '../executor-kind.ts';
import { arrayOptions, batchScript, resourceOptions } from './batch-script.ts';
import { gatewayLines } from './node-gateway.ts';
import { SlurmCommands, usualArraySize } from './slurm-commands.ts';

/**
 * The scripts that a plan is submitted with. Each starts with the commands that submit it: for the arrays of runs with
 * equal requests, and for those of their gradings. An array and the documents of its jobs are written when the plan is
 * executed.
 */
export async function plannedScripts(
  { plan, tasks, folder, parallel, variables, command }: PlannedPlace,
  settings: SlurmSettings,
): Promise<string[]> {
  const place = join(folder, 'slurm', 'mlab-ARRAY');
  const needs = { plan, tasks, threads: settings.cores };
  const words = settings.command ?? command.map(shellWord).join(' ');
  const asksModels = plan.runs.some(({ roles }) => roles !== undefined);
  const script = batchScript(place, words, settings, asksModels ? gatewayLines(settings) : '');
  const most = settings.array_size ?? (await mostOfArray(variables));

  const sbatch = (count: number, resources: readonly string[], after: string | undefined) => {
    const array = { name: 'mlab-ARRAY', folder: place, count, parallel, after };
    const options = [...arrayOptions(array, settings, variables), ...resources];
    return `# sbatch ${options.map(shellWord).join(' ')} ${shellWord(join(place, 'array.sh'))}`;
  };
  const options = (run: RunSpec) => resourceOptions({ resources: runResources(run, needs) }, settings);
  const gradingOptions = (run: RunSpec) =>
    plan.grade === 'none' ? null : resourceOptions({ resources: gradeResources(run, needs) }, settings);

  const alike = Map.groupBy(plan.runs, (run) => JSON.stringify([options(run), gradingOptions(run)]));
  const submissions = [...alike.values()].flatMap((runs) => {
    const [run] = runs;
    if (run === undefined) return [];
    const grading = gradingOptions(run);
    return sizes(runs.length, most).flatMap((count) => [
      sbatch(count, options(run), undefined),
      ...(grading === null ? [] : [sbatch(count, grading, 'RUNS')]),
    ]);
  });
  return [`${submissions.join('\n')}\n${script}`];
}

/** The sizes of the arrays for so many jobs. */
function sizes(jobs: number, most: number): number[] {
  const count = Math.ceil(jobs / most);
  return Array.from({ length: count }, (_, index) => Math.min(most, jobs - index * most));
}

/** A plan can also be shown where Slurm is not installed. */
async function mostOfArray(variables: PlannedPlace['variables']): Promise<number> {
  try {
    return await new SlurmCommands(variables).mostOfArray();
  } catch (error) {
    if (hasCode(error, 'no_slurm')) return usualArraySize - 1;
    throw error;
  }
}
