import { join } from 'node:path';
import { hasCode } from '../../../lib/errors.ts';
import { shellWord } from '../../../lib/shell-word.ts';
import type { RunSpec, SlurmSettings } from '../../../schema/index.ts';
import { gradeResources, runResources } from '../../jobs/make-jobs.ts';
import { groupsOf } from '../arrays/groups.ts';
import type { PlannedPlace } from '../executor-kind.ts';
import { arrayOptions, batchScript, resourceOptions } from './batch-script.ts';
import { gatewayLines } from './node-gateway.ts';
import { SlurmCommands, usualArraySize } from './slurm-commands.ts';

/**
 * The script that a plan is submitted with, after the commands that submit it: for the arrays of runs with equal
 * requests, each with that of their gradings. An array and the documents of its jobs are written when the plan is
 * executed.
 */
export async function plannedScript(
  { plan, tasks, folder, parallel, variables, command }: PlannedPlace,
  settings: SlurmSettings,
): Promise<string> {
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

  const groups = groupsOf(plan.runs, most, (run) => [options(run), gradingOptions(run)]);
  const submissions = groups.flatMap((runs) => {
    const [run] = runs;
    if (run === undefined) return [];
    const grading = gradingOptions(run);
    const submitted = sbatch(runs.length, options(run), undefined);
    return grading === null ? [submitted] : [submitted, sbatch(runs.length, grading, 'RUNS')];
  });
  return `${submissions.join('\n')}\n${script}`;
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
