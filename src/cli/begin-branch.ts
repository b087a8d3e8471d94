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
export interface BranchToBegin {
  experiment: Experiment;
  /** The plan to execute: that of the experiment, with this run alone. */
  plan: Plan;
  /**
   * Writes the branch to disk before it runs, or returns the one that is there.
   * @throws UserError `branch_differs`
   */
  freeze: () => BranchPlan;
}

/**
 * The branch that --from begins. Null if it begins a fork instead, which has its own experiment: with another name, or
 * with other models, limits or options.
 * @param fork the same continuation as a fork
 */
export function branchOf(
  context: Context,
  { experiment, spec, step }: ForkSource,
  fork: Plan,
  wanted: ExperimentFile,
  { branch: name }: ForkFlags,
): BranchToBegin | null {
  const isHere = (wanted.name ?? experiment.name) === experiment.name;
  const isSame = isSameRun(spec, fork);
  if (name !== undefined && !isHere) {
    throw new UserError(
      'bad_fork',
      'A branch belongs to the experiment of its run.',
      'Leave out --name for a branch, or --branch for a fork.',
    );
  }
  if (!isSame && (name !== undefined || wanted.name === experiment.name)) {
    throw new UserError(
      'bad_fork',
      'A branch has the models, limits, options and sandbox of its run.',
      'Leave out those flags, or start a fork (a new experiment): without --branch, and with another --name or none.',
    );
  }
  if (!isHere || !isSame) return null;
  // The same command began a fork with an earlier version of mlab.
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
    `${experiment.name}/${id} is ${is}.`,
    'Choose another --branch name.',
  );
}

/** The name by which the trace knows the person at the keyboard. */
export function personName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may have no name for its user.
    return 'person';
  }
}
