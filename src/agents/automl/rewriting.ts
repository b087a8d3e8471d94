import type { Lesson } from '../../schema/index.ts';
import type { Workspace } from '../common/workspace.ts';
import { isTimeLike } from '../search/metric-names.ts';
import { type Candidate, sourceOf } from './candidate.ts';
import { arraysScript, readArrays } from './model-writing/arrays.ts';
import { allRewrites } from './rewrites/all.ts';
import { fasterFunctions, offersFromPython } from './rewrites/in-python.ts';
import type { Rewrite, Surroundings } from './rewrites/rewrite.ts';
import { inTheirFiles } from './script-files.ts';
import { type Study, versionsOf } from './study.ts';

/** Share of the remaining time and steps, at most. */
const largestShare = 0.5;
/** The number of rewrites of the starter to try even if a script of automl's own is better than the starter. */
const triesAgainstOwn = 4;

/**
 * Rewrites the best script in one place at a time, the most promising first, and keeps improvements; each one that is
 * kept may make others possible.
 */
export async function rewriteScript(
  workspace: Workspace,
  study: Study,
  maxTries: number,
  { experience, leftOut }: { experience: readonly Lesson[]; leftOut: readonly string[] },
): Promise<void> {
  const start = workspace.budget;
  const surroundings = { ...(await lookAround(workspace, sourceOf(study.starter))), leftOut };
  const tried = new Set<string>();
  let offers: readonly Rewrite[] = [];
  let offersFor: Candidate | null = null;
  const isWithinShare = () => {
    const { seconds_used, steps_used } = workspace.budget;
    return (
      seconds_used - start.seconds_used <= largestShare * start.seconds_left &&
      steps_used - start.steps_used <= largestShare * start.steps_left
    );
  };
  while (tried.size < allowedTries(study, maxTries) && isWithinShare()) {
    // A script of automl's own already uses what its libraries offer, so the starter is rewritten, to beat that script.
    const base = study.best.isOwn === true ? study.starter : study.best;
    const { script, story, seconds, values } = base;
    if (base !== offersFor) {
      const asked = isTimeLike(workspace.task.metric)
        ? await offersFromPython(workspace, fasterFunctions, sourceOf(base))
        : [];
      offers = allRewrites(sourceOf(base), surroundings, experience, asked);
    }
    offersFor = base;
    const next = offers.find(({ name, effort }) => !tried.has(name) && study.affords(seconds * effort));
    if (next === undefined || workspace.ended) return;
    tried.add(next.name);
    const change = inTheirFiles(next.change, sourceOf(base));
    const rewritten = versionsOf(next.source, workspace.task);
    await study.consider({
      script: rewritten,
      // It has the numbers of the best version.
      story: [...story, ...script.changes(values), change.replace(/\.$/, '')],
      values: rewritten.knobs.map(({ value }) => value),
      seconds: seconds * next.effort,
      changesCode: next.isProven !== true,
      notes: { Rewrite: next.name, Reason: next.reason, Change: change },
    });
  }
}

const lookScript = 'look_at_arrays.py';
/** To list the arrays (2), to try one rewrite (5), and to end (4). */
const stepsForLook = 11;

/**
 * The surroundings of a script that runs. Arrays are examined only if the script opens some, since that takes steps.
 */
async function lookAround(workspace: Workspace, source: string): Promise<Surroundings> {
  const { task } = workspace;
  if (!/\.np[yz]\b/.test(source) || workspace.budget.steps_left < stepsForLook)
    return { task, arrays: [], packages: [] };
  workspace.note({ Reason: 'What the arrays of the data hold tells what else the model could make use of.' });
  await workspace.writeFile(lookScript, arraysScript());
  const summary = readArrays((await workspace.executeScript(lookScript)).observation);
  return { task, arrays: summary?.arrays ?? [], packages: summary?.packages ?? [] };
}

function allowedTries({ best }: Study, maxTries: number): number {
  if (best.isStricter === true) return 0;
  return best.isOwn === true ? Math.min(triesAgainstOwn, maxTries) : maxTries;
}
