import { agentByName, checkAgentOptions } from '../agents/index.ts';
import { UserError } from '../lib/errors.ts';
import { makeForkPlan } from '../runs/index.ts';
import type { ExperimentFile, ExperimentName, Plan, RunSpec } from '../schema/index.ts';
import type { RunFolder } from '../store/index.ts';
import { type AgentFlags, agentOptions } from './agent-options.ts';
import type { Context } from './context.ts';
import { locateRun } from './locate.ts';
import { snapshotOfStep } from './run-steps.ts';
import type { Flag } from './verb.ts';

export interface ForkFlags {
  from?: string;
  step?: string;
  agent?: string[];
  seeds?: unknown;
}

export const forkFlags: Flag[] = [
  {
    flags: '--from <run>',
    description:
      'make a new run that goes on from a step of this one (EXPERIMENT/RUN); models and limits may change',
  },
  { flags: '--step <n>', description: 'the step that --from goes on after: a number, or last (default)' },
];

/** A run that another one goes on from. */
export interface ForkSource {
  experiment: ExperimentName;
  spec: RunSpec;
  folder: RunFolder;
  step: number;
}

/** @throws UserError where the run or its step is not there */
export function findParent(
  context: Context,
  { from = '', step = 'last', agent, seeds }: ForkFlags,
  wanted: ExperimentFile,
): ForkSource {
  const isOther = wanted.tasks.length > 0 || wanted.suite !== undefined || agent !== undefined;
  if (isOther || seeds !== undefined) {
    throw new UserError(
      'bad_fork',
      'A run that goes on from another has its task, agent and seed.',
      'Leave out --task, --suite, --agent and --seeds.',
    );
  }
  const { experiment, folder } = locateRun(context, from);
  const spec = experiment.plan.runs.find(({ id }) => id === folder.id);
  if (spec === undefined || folder.readRecord() === null) {
    throw new UserError(
      'not_begun',
      `The run ${from} has not begun.`,
      'Name one that has: mlab runs ls lists them.',
    );
  }
  return { experiment: experiment.plan.name, spec, folder, step: snapshotOfStep(folder, step).number };
}

export function makeFork(
  context: Context,
  { experiment, spec, step }: ForkSource,
  wanted: ExperimentFile,
  flags: AgentFlags,
): Plan {
  const agent = agentByName(spec.agent);
  const options = agentOptions(agent, flags);
  checkAgentOptions(agent, options);
  return makeForkPlan(spec, { experiment, run: spec.id, step }, wanted, options, context.version);
}
