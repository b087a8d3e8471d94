import { join } from 'node:path';
import { shellWord } from '../../../lib/shell-word.ts';
import type { SlurmSettings } from '../../../schema/index.ts';
import type { PlannedPlace } from '../executor-kind.ts';
import { arrayOptions, batchScript, type JobNeeds, resourceOptions } from './batch-script.ts';
import { gatewayLines } from './node-gateway.ts';

/**
 * For the runs of a plan with equal requests, the command that submits their array, and its script. An array and the
 * documents of its jobs are written when the plan is executed.
 */
export function plannedScripts(
  { plan, folder, parallel, variables, command }: PlannedPlace,
  settings: SlurmSettings,
): string[] {
  const needs = plan.runs.map(({ limits, gpu, gpus }): JobNeeds => {
    const memory = plan.resources?.memory_mb ?? limits.memory_mb * (limits.branches_at_once ?? 1);
    const resources = { cores: settings.cores, memory_mb: memory, gpu: gpu === true, gpus, exclusive: false };
    return { resources };
  });
  const asksModels = plan.runs.some(({ roles }) => roles !== undefined);
  const alike = Map.groupBy(needs, (each) => resourceOptions(each, settings).join(' '));
  return [...alike.values()].map((jobs) => {
    const place = join(folder, 'slurm', 'mlab-ARRAY');
    const array = { name: 'mlab-ARRAY', folder: place, count: jobs.length, parallel, after: undefined };
    const resources = jobs.slice(0, 1).flatMap((each) => resourceOptions(each, settings));
    const options = [...arrayOptions(array, settings, variables), ...resources];
    const words = settings.command ?? command.map(shellWord).join(' ');
    const given = `# sbatch ${options.map(shellWord).join(' ')} ${shellWord(join(place, 'array.sh'))}`;
    return `${given}\n${batchScript(place, words, settings, asksModels ? gatewayLines(settings) : '')}`;
  });
}
