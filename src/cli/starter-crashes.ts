import { scriptCrash } from '../runs/index.ts';
import type { RunSpec } from '../schema/index.ts';
import { type Experiment, readTraceSync, stepsOf, type TakenStep } from '../store/index.ts';
import { duration, plain } from './table.ts';

/** How the starter of a task fails, once per task, as runs of the agent baseline show. */
export function starterCrashes(experiment: Experiment): string {
  const crashes = new Map<string, string>();
  const slow = new Map<string, string>();
  for (const run of experiment.plan.runs) {
    const { id, task, agent } = run;
    const folder = experiment.runFolder(id);
    if (agent !== 'baseline' || crashes.has(task) || slow.has(task) || !folder.hasTrace()) continue;
    const steps = stepsOf(readTraceSync(folder.tracePath).events);
    const crash = scriptCrash(folder, steps);
    if (crash === null) continue;
    const place = `  ${task} (in ${experiment.name}/${id}): `;
    const tooSlow = timeLimitText(run, steps);
    if (tooSlow === null) crashes.set(task, `${place}${plain(crash).replaceAll('\n', '\n    ')}`);
    else slow.set(task, `${place}${tooSlow}`);
  }
  return [
    listed('The starter code of the task fails by itself:', crashes),
    listed('Time limit too short for the starter:', slow),
  ].join('');
}

function listed(title: string, lines: ReadonlyMap<string, string>): string {
  return lines.size === 0 ? '' : `\n\n${title}\n${[...lines.values()].join('\n')}`;
}

/** What to do about a starter that was stopped for its time; null if it was not. */
function timeLimitText({ limits }: RunSpec, steps: readonly TakenStep[]): string | null {
  const last = steps.findLast(({ performed }) => performed.action === 'Execute Script');
  if (last?.finished.status !== 'timed_out') return null;
  const flag = limits.script_seconds < limits.wall_seconds ? '--script-seconds' : '--wall-seconds';
  return `stopped after ${duration(last.finished.duration_ms / 1000)}; raise ${flag}`;
}
