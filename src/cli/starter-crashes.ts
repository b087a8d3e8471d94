import { scriptCrash } from '../runs/index.ts';
import { type Experiment, readTraceSync, stepsOf } from '../store/index.ts';
import { plain } from './table.ts';

/** How the starter of a task fails, once per task, as runs of the agent baseline show. The task is at fault then. */
export function starterCrashes(experiment: Experiment): string {
  const crashes = new Map<string, string>();
  const { plan } = experiment;
  for (const { id, task, agent } of plan.runs) {
    const folder = experiment.runFolder(id);
    if (agent !== 'baseline' || crashes.has(task) || !folder.hasTrace()) continue;
    const crash = scriptCrash(folder, stepsOf(readTraceSync(folder.tracePath).events));
    if (crash !== null)
      crashes.set(task, `  ${task} (in ${plan.name}/${id}): ${plain(crash).replaceAll('\n', '\n    ')}`);
  }
  return crashes.size === 0
    ? ''
    : `\n\nThe starter code of the task fails by itself:\n${[...crashes.values()].join('\n')}`;
}
