import type { Plan, RunSpec } from '../schema/index.ts';
import { atATime } from './progress.ts';
import { counted } from './table.ts';

/** The runs of a plan that this process executes, a line each. */
export function planText(plan: Plan): string {
  const runs = plan.runs.map(({ id, limits }) => `  ${id}  (${limitsText(limits)})`);
  return `${plan.name}: ${counted(plan.runs.length, 'run')}, ${atATime(plan)}\n${runs.join('\n')}`;
}

/** The runs of a plan that is executed elsewhere: for many, one line for each task and agent. */
export function planTextElsewhere(plan: Plan, place: string): string {
  const alike = Map.groupBy(plan.runs, ({ task, agent, agent_options: options, model, limits }) =>
    JSON.stringify([task, agent, options, model, limits]),
  );
  const lines = [...alike.values()].map((runs) => {
    const ids = runs.length < 3 ? runs.map(({ id }) => id) : [runs[0]?.id, '…', runs.at(-1)?.id];
    const limits = runs.slice(0, 1).map((run) => limitsText(run.limits));
    return `  ${ids.join(' ')}  (${[...(runs.length > 1 ? [counted(runs.length, 'run')] : []), ...limits].join(', ')})`;
  });
  return `${plan.name}: ${counted(plan.runs.length, 'run')}, executed on ${place}\n${lines.join('\n')}`;
}

function limitsText({ steps, wall_seconds: seconds }: RunSpec['limits']): string {
  return `${counted(steps, 'step')}, ${seconds} s`;
}
