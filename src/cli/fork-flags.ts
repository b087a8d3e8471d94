import { checkAgentOptions } from '../agents/index.ts';
import { UserError } from '../lib/errors.ts';
import { anyAgentOfRun, makeForkPlan } from '../runs/index.ts';
import type { ExperimentFile, Plan, RunSpec } from '../schema/index.ts';
import type { Experiment, RunFolder } from '../store/index.ts';
import { sampleCaveat, type Task, unverifiedCaveat } from '../tasks/index.ts';
import { type AgentFlags, agentOptions, agentPlace } from './agent-options.ts';
import type { Context } from './context.ts';
import { locateRun } from './locate.ts';
import { snapshotOfStep } from './run-steps.ts';
import { refuseAddresses, refuseUnconfined, type TrustFlags, trustFlag } from './trust.ts';
import type { Flag } from './verb.ts';

export interface ForkFlags extends TrustFlags {
  from?: string;
  step?: string;
  branch?: string;
  sample?: boolean;
}

export const forkFlags: Flag[] = [
  {
    flags: '--from <run>',
    description:
      'branch off from a step of this run (EXPERIMENT/RUN@STEP); different models, limits, options or a different sandbox make it a fork, in a new experiment',
  },
  { flags: '--step <n>', description: 'step to branch off after: a number, or last (default)' },
  { flags: '--branch <name>', description: 'name of the new branch; default: from-STEP' },
  trustFlag,
];

/** A run that another one is forked from. */
export interface ForkSource {
  experiment: Experiment;
  spec: RunSpec;
  folder: RunFolder;
  step: number;
}

/** What a fork always takes over from its run, as flags. */
const kept: Partial<Record<keyof ExperimentFile, string>> = {
  ...{ tasks: '--task', suite: '--suite', agents: '--agent', seeds: '--seeds', clock: '--clock' },
  ...{ experience: '--experience', same_task: '--same-task' },
};

/** Keys that apply only to runs that call language models. */
const ofModels = new Set<string>([
  'models',
  'roles',
  'providers',
  'prices',
  'spend',
] satisfies (keyof ExperimentFile)[]);

/**
 * The run that `--from` names; null if the flag is missing.
 * @param said keys of the experiment file that are set, in it or by flags
 * @throws UserError if the run or its step does not exist, or if a key is set that can't change in the middle of a run
 */
export function findParent(
  context: Context,
  { from, step, branch, sample, trust }: ForkFlags,
  said: ReadonlySet<string>,
): ForkSource | null {
  if (from === undefined) {
    if (step === undefined && branch === undefined) return null;
    throw new UserError('bad_fork', '--step and --branch need a run.', 'Name it with --from.');
  }
  refuseKept(said);
  const { experiment, folder, step: named } = locateRun(context, from, { withSteps: true });
  if (named !== null && step !== undefined)
    throw new UserError('bad_fork', `${from} already names a step.`, 'Leave out --step.');
  const spec = experiment.specOf(folder.id);
  if (spec === null || folder.readRecord() === null) {
    throw new UserError(
      'not_begun',
      `The run ${from} has not started.`,
      'Name a run that has started; mlab runs ls lists them.',
    );
  }
  if (!said.has('sandbox')) refuseUnconfined(spec, { trust });
  if (sample === true && !spec.caveats.includes(sampleCaveat))
    throw new UserError('bad_fork', `The run ${from} did not use sample data.`, 'Leave out --sample.');
  const asking = [...said].filter((key) => ofModels.has(key));
  if (spec.roles === undefined && asking.length > 0) {
    const what = `${asking.join(', ')} ${asking.length === 1 ? 'says' : 'do'} not apply`;
    throw new UserError(
      'bad_fork',
      `The run ${from} calls no language model: ${what}.`,
      'Leave out that flag.',
    );
  }
  return { experiment, spec, folder, step: snapshotOfStep(folder, named ?? step ?? 'last').number };
}

function refuseKept(said: ReadonlySet<string>): void {
  const flags = Object.entries(kept).flatMap(([key, flag]) => (said.has(key) ? [flag] : []));
  if (flags.length > 0) {
    throw new UserError(
      'bad_fork',
      'A fork keeps the task, agent, seed, experience and clock of its run.',
      `Leave out ${flags.join(', ')}.`,
    );
  }
  if (said.has('parallel'))
    throw new UserError('bad_fork', '--from starts one run only.', 'Leave out --parallel.');
}

/** The experiment for a continuation: keys that are not set are those of its run. */
export function asItsRun(
  wanted: ExperimentFile,
  { spec }: ForkSource,
  said: ReadonlySet<string>,
): ExperimentFile {
  const { docker_image: _, ...rest } = wanted;
  const sandbox = said.has('sandbox') ? wanted.sandbox : spec.sandbox;
  const gpus = wanted.gpus ?? spec.gpus;
  const image = wanted.docker_image ?? (sandbox === spec.sandbox ? spec.docker_image : undefined);
  return {
    ...{ ...rest, sandbox, gpu: wanted.gpus !== undefined || (said.has('gpu') ? wanted.gpu : spec.gpu) },
    ...(image === undefined ? {} : { docker_image: image }),
    ...(gpus === undefined ? {} : { gpus }),
  };
}

/** Addresses and prices of the source's models also apply to its continuation, unless set otherwise. */
export async function makeFork(
  context: Context,
  { experiment: { name: experiment, plan }, spec, step }: ForkSource,
  wanted: ExperimentFile,
  flags: AgentFlags & ForkFlags,
  task: Task | undefined,
): Promise<Plan> {
  const ofPlan = Object.entries(plan.providers ?? {}).filter(
    ([name]) => wanted.providers[name] === undefined,
  );
  if (spec.roles !== undefined) refuseAddresses(Object.fromEntries(ofPlan), flags);
  const agent = await anyAgentOfRun(spec, agentPlace(context, wanted));
  if (agent.program !== undefined || agent.ledFromOutside) {
    throw new UserError(
      'not_forked',
      `The agent ${agent.name} is an external program, which cannot be replayed to a step of another run.`,
      "Fork a run of one of mlab's own agents.",
    );
  }
  const options = agentOptions(agent, flags);
  checkAgentOptions(agent, options);
  const changes = {
    ...wanted,
    gpu: wanted.gpu && task?.file.resources.gpu !== 'none',
    providers: { ...plan.providers, ...wanted.providers },
    prices: { ...plan.prices, ...wanted.prices },
  };
  const parent = { experiment, run: spec.id, step };
  return makeForkPlan(spec, parent, changes, options, context.version);
}

/**
 * The plan of a continuation on the data that is there now: a fork's results get a caveat if that data is no longer
 * verified.
 * @throws UserError `bad_fork` for a branch whose run had other data
 */
export function onData(plan: Plan, isBranch: boolean, isVerified: boolean): Plan {
  if (isVerified || plan.runs.every(({ caveats }) => caveats.includes(unverifiedCaveat))) return plan;
  if (isBranch) {
    throw new UserError(
      'bad_fork',
      "A branch uses its run's data, but this data has different checksums.",
      'Leave out --allow-unverified, or make a fork in a new experiment with --name.',
    );
  }
  return { ...plan, runs: plan.runs.map((run) => ({ ...run, caveats: [...run.caveats, unverifiedCaveat] })) };
}
