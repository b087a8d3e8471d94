import type { Lesson, TaskBrief } from '../../../schema/index.ts';
import { isTimeLike } from '../../search/metric-names.ts';
import { hintForRewrite } from '../hints.ts';
import { rewriteEstimators } from './estimators.ts';
import { fasterFunctions } from './faster-functions.ts';
import { rewriteGraph } from './graph.ts';
import type { PythonRewriter } from './in-python.ts';
import type { Rewrite, Rewriter, Surroundings } from './rewrite.ts';
import { rewriteTorch } from './torch/torch.ts';

const rewriters: readonly Rewriter[] = [rewriteEstimators, rewriteTorch, rewriteGraph];

/** If the metric is a time, the computation must stay the same. */
const fasterRewriters: readonly Rewriter[] = [rewriteTorch];

/** Programs that look for rewrites by running beside the script. */
const programs: readonly PythonRewriter[] = [];
/** The programs for tasks whose metric is a time. */
const fasterPrograms: readonly PythonRewriter[] = [fasterFunctions];

/** The programs that are asked for rewrites of a task's scripts. */
export function rewritersInPython({ metric }: TaskBrief): readonly PythonRewriter[] {
  return isTimeLike(metric) ? fasterPrograms : programs;
}

/**
 * All possible rewrites of a script, the most promising first; lessons of other runs change that order. `asked`: the
 * offers of programs.
 */
export function allRewrites(
  source: string,
  surroundings: Surroundings,
  experience: readonly Lesson[],
  asked: readonly Rewrite[] = [],
): Rewrite[] {
  const chosen = isTimeLike(surroundings.task.metric) ? fasterRewriters : rewriters;
  return [...asked, ...chosen.flatMap((rewriter) => rewriter(source, surroundings))]
    .map((rewrite) => withHint(rewrite, experience))
    .sort((left, right) => right.weight - left.weight);
}

function withHint(rewrite: Rewrite, experience: readonly Lesson[]): Rewrite {
  const { factor, tasks } = hintForRewrite(rewrite.name, experience);
  if (factor === 1) return rewrite;
  const reason =
    tasks.length === 0
      ? rewrite.reason
      : `it helped earlier runs (on ${tasks.join(', ')}), and ${rewrite.reason}`;
  return { ...rewrite, weight: rewrite.weight * factor, reason };
}
