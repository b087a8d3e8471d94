import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../lib/errors.ts';
import { type BranchPlan, type Plan, RunId, type RunParent, type RunSpec } from '../schema/index.ts';

/** Who begins a branch, with which version of mlab; `name`: null for the default. */
export interface BranchAsked {
  name: string | null;
  /** Its actions wait for decisions. */
  approveLater: boolean;
  actor: string;
  mlab: string;
}

/** Whether a fork has the agent, models, limits and options of its source. Who decides on its actions may differ. */
export function isSameRun(source: RunSpec, { runs: [fork] }: Plan): boolean {
  const own = { id: '', experiment: '', parent: null, approve_later: false };
  const frozen = (spec: RunSpec | undefined) => ({ ...spec, ...own });
  return isDeepStrictEqual(frozen(fork), frozen(source));
}

/** Plans a branch of a run from one of its steps: with the same agent, seed, models and limits. */
export function makeBranchPlan(
  source: RunSpec,
  { run, step }: Pick<RunParent, 'run' | 'step'>,
  { name, approveLater, actor, mlab }: BranchAsked,
): BranchPlan {
  const id = RunId.safeParse(`${source.id}-${name ?? `from-${step}`}`);
  if (!id.success) {
    throw new UserError(
      'bad_flag',
      `--branch ${name}: not a valid name.`,
      'Use lower-case letters and digits joined by "-"; with the name of its run at most 160.',
    );
  }
  const parent = { experiment: source.experiment, run, step };
  const approval = approveLater ? { approve_later: true } : {};
  return { v: 1, created: Date.now(), mlab, actor, run: { ...source, ...approval, id: id.data, parent } };
}
