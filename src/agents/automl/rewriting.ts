import type { Workspace } from '../common/workspace.ts';
import { isTimeLike } from '../search/metric-names.ts';
import { arraysScript, readArrays } from './model-writing/arrays.ts';
import { allRewrites } from './rewrites/all.ts';
import { fasterFunctions } from './rewrites/in-python.ts';
import type { Rewrite, Surroundings } from './rewrites/rewrite.ts';
import { inTheirFiles } from './script-files.ts';
import type { Study } from './study.ts';
import { isOwn, type Version } from './trial.ts';

/** Share of the remaining time and steps, at most. */
const largestShare = 0.5;
/** The number of rewrites of the starter to try even if a script of automl's own is better than the starter. */
const triesAgainstOwn = 4;

/**
 * Rewrites the best script in one place at a time, the most promising first, and keeps improvements; each one that is
 * kept may make others possible.
 */
export async function rewriteScript(
  study: Study,
  maxTries: number,
  leftOut: readonly string[],
): Promise<void> {
  const { workspace } = study;
  const { pace } = study.trials;
  const before = pace.used;
  const surroundings = { ...(await lookAround(workspace, study.first.measured.source)), leftOut };
  const tried = new Set<string>();
  let offers: readonly Rewrite[] = [];
  let offersFor: Version | null = null;
  const isWithinShare = () => pace.used <= before + largestShare * (1 - before);
  while (tried.size < allowedTries(study, maxTries) && isWithinShare()) {
    // A script of automl's own already uses what its libraries offer, so the starter is rewritten, to beat that script.
    const base = isOwn(study.best) ? study.first : study.best;
    const { source, seconds } = base.measured;
    if (base !== offersFor) {
      const asked = isTimeLike(workspace.task.metric) ? await fasterFunctions(workspace, source) : [];
      offers = allRewrites(source, surroundings, asked);
    }
    offersFor = base;
    const next = offers.find(({ name, effort }) => !tried.has(name) && study.affords(seconds * effort));
    if (next === undefined || workspace.ended) return;
    tried.add(next.name);
    await study.consider({
      ...{ operator: 'rewrite', from: base, source: next.source },
      seconds: seconds * next.effort,
      changesCode: next.isProven !== true,
      notes: { Rewrite: next.name, Reason: next.reason, Change: inTheirFiles(next.change, source) },
    });
  }
}

const lookScript = 'look_at_arrays.py';
/** To list the arrays (2), to try one rewrite (5), and to end (4). */
const stepsForLook = 11;
const secondsForLook = 15;

/**
 * The surroundings of a script that runs. Arrays are examined only if the script opens some, since that takes steps.
 */
async function lookAround(workspace: Workspace, source: string): Promise<Surroundings> {
  const { task } = workspace;
  const { steps_left, seconds_left } = workspace.budget;
  if (!/\.np[yz]\b/.test(source) || steps_left < stepsForLook || seconds_left < secondsForLook)
    return { task, arrays: [], packages: [] };
  workspace.note({ Reason: 'What the arrays of the data hold tells what else the model could make use of.' });
  await workspace.writeFile(lookScript, arraysScript());
  const summary = readArrays((await workspace.executeScript(lookScript)).observation);
  return { task, arrays: summary?.arrays ?? [], packages: summary?.packages ?? [] };
}

function allowedTries({ best, scoresOfOwn }: Study, maxTries: number): number {
  if (!isOwn(best)) return maxTries;
  return scoresOfOwn === 'comparable' ? Math.min(triesAgainstOwn, maxTries) : 0;
}
