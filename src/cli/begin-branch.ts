import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { isSameRun, makeBranchPlan } from '../runs/index.ts';
import type { BranchPlan, ExperimentFile, Plan } from '../schema/index.ts';
import type { Experiment } from '../store/index.ts';
import type { Context } from './context.ts';
import type { ForkFlags, ForkSource } from './fork-flags.ts';

/** A branch that --from begins. */
export interface BegunBranch {
  experiment: Experiment;
  /** What is executed: the plan of its experiment, with this run alone. */
  plan: Plan;
  /** Writes it down before it runs, or finds it as it was. @throws UserError `branch_differs` */
  freeze: () => BranchPlan;
}

/**
 * The branch that --from begins; null where it begins a fork, in an experiment of its own: that has another name, or other
 * models, limits or options.
 * @param fork what it would be as a fork
 */
export function branchOf(
  context: Context,
  { experiment, spec, step }: ForkSource,
  fork: Plan,
  wanted: ExperimentFile,
  { branch: name }: ForkFlags,
): BegunBranch | null {
  const isHere = (wanted.name ?? experiment.plan.name) === experiment.plan.name;
  const isSame = isSameRun(spec, fork);
  if (name !== undefined && !isHere) {
    throw new UserError(
      'bad_fork',
      'A branch belongs to the experiment of its run.',
      'Leave out --name for a branch, or --branch for a fork.',
    );
  }
  if (!isSame && (name !== undefined || wanted.name === experiment.plan.name)) {
    throw new UserError(
      'bad_fork',
      'A branch has the models, limits, options and sandbox of its run.',
      'Leave them out, or begin a fork in an experiment of its own: without --branch, with another --name or none.',
    );
  }
  if (!isHere || !isSame) return null;
  // A fork that an earlier mlab began by the same command.
  if (name === undefined && existsSync(join(context.folders.experiments, fork.name, 'plan.json')))
    return null;
  const approveLater = wanted.approve_later === true;
  const asked = { name: name ?? null, approveLater, actor: personName(), mlab: context.version };
  const branch = makeBranchPlan(spec, { run: spec.id, step }, asked);
  return {
    experiment,
    plan: planOfBranch(experiment, branch, fork),
    freeze: () => freezeBranch(experiment, branch),
  };
}

function planOfBranch({ plan }: Experiment, { run }: BranchPlan, fork: Plan): Plan {
  const { providers, prices, spend, grade } = fork;
  const shared = { ...plan.spend, ...spend };
  const models = run.roles === undefined ? {} : { providers, prices, spend: shared };
  return { ...plan, ...models, grade, parallel: 1, runs: [run] };
}

function freezeBranch(experiment: Experiment, branch: BranchPlan): BranchPlan {
  const { id, parent } = branch.run;
  const planned = experiment.plan.runs.some((run) => run.id === id);
  const frozen = planned ? null : experiment.addBranch(branch);
  const before = frozen?.run.parent;
  if (frozen !== null && before?.run === parent.run && before.step === parent.step) return frozen;
  const is =
    before === undefined ? 'a run of the plan' : `a branch of ${before.run} from step ${before.step}`;
  throw new UserError(
    'branch_differs',
    `${experiment.plan.name}/${id} is ${is}.`,
    'Take another --branch name.',
  );
}

/** As the trace has them who are at the keyboard. */
export function personName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may know no name of its user.
    return 'person';
  }
}
