import { checkAgentOptions } from '../agents/index.ts';
import { UserError } from '../lib/errors.ts';
import { anyAgentOfRun, makeForkPlan } from '../runs/index.ts';
import type { ExperimentFile, Plan, RunSpec } from '../schema/index.ts';
import type { Experiment, RunFolder } from '../store/index.ts';
import { type AgentFlags, agentOptions, agentPlace } from './agent-options.ts';
import type { Context } from './context.ts';
import { locateRun } from './locate.ts';
import { snapshotOfStep } from './run-steps.ts';
import type { Flag } from './verb.ts';

export interface ForkFlags {
  from?: string;
  step?: string;
  branch?: string;
  /** Flags for runs that begin anew. */
  agent?: unknown;
  seeds?: unknown;
}

export const forkFlags: Flag[] = [
  {
    flags: '--from <run>',
    description:
      'a branch of this run (EXPERIMENT/RUN) from a step on; with other models, limits or options a fork: a new experiment',
  },
  { flags: '--step <n>', description: 'the step that --from goes on after: a number, or last (default)' },
  { flags: '--branch <name>', description: 'name of the branch that --from begins; default: from-STEP' },
];

/** A run that another one is forked from. */
export interface ForkSource {
  experiment: Experiment;
  spec: RunSpec;
  folder: RunFolder;
  step: number;
}

/**
 * The run that `--from` names; null where it is not given.
 * @throws UserError where the run or its step is not there
 */
export function findParent(
  context: Context,
  { from, step, branch, agent, seeds }: ForkFlags,
  wanted: ExperimentFile,
): ForkSource | null {
  if (from === undefined) {
    if (step === undefined && branch === undefined) return null;
    throw new UserError('bad_fork', 'There is no run to begin at.', 'Name it with --from.');
  }
  const others = [agent, seeds, wanted.suite, wanted.experience, wanted.same_task].some(
    (value) => value !== undefined,
  );
  if (wanted.tasks.length > 0 || others) {
    throw new UserError(
      'bad_fork',
      'A forked run has its task, agent, seed and experience.',
      'Leave out --task, --suite, --agent, --seeds, --experience and --same-task.',
    );
  }
  const { experiment, folder } = locateRun(context, from);
  const spec = experiment.specOf(folder.id);
  if (spec === null || folder.readRecord() === null) {
    throw new UserError(
      'not_begun',
      `The run ${from} has not begun.`,
      'Name one that has: mlab runs ls lists them.',
    );
  }
  return { experiment, spec, folder, step: snapshotOfStep(folder, step ?? 'last').number };
}

/** Where the source's models are, and what they cost, holds for its continuation, too, where nothing else is said. */
export async function makeFork(
  context: Context,
  { experiment: { plan }, spec, step }: ForkSource,
  wanted: ExperimentFile,
  flags: AgentFlags,
): Promise<Plan> {
  const agent = await anyAgentOfRun(spec, agentPlace(context, spec));
  if (agent.program !== undefined || agent.ledFromOutside) {
    throw new UserError(
      'not_forked',
      `The agent ${agent.name} is a program of its own: it can't be led through the steps of another run.`,
      'Fork a run of an agent of this package.',
    );
  }
  const options = agentOptions(agent, flags);
  checkAgentOptions(agent, options);
  const changes = {
    ...wanted,
    providers: { ...plan.providers, ...wanted.providers },
    prices: { ...plan.prices, ...wanted.prices },
  };
  const parent = { experiment: plan.name, run: spec.id, step };
  return makeForkPlan(spec, parent, changes, options, context.version);
}
