import type { Lesson, TaskBrief } from '../../../schema/index.ts';
import { isTimeLike } from '../../search/metric-names.ts';
import { hintForRewrite } from '../hints.ts';
import { fasterFunctions } from './faster-functions.ts';
import { rewriteGraph } from './graph.ts';
import type { PythonRewriter } from './in-python.ts';
import type { Rewrite, Rewriter, Surroundings } from './rewrite.ts';
import { rewriteScikitLearn } from './scikit-learn/rewrite-scikit-learn.ts';
import { rewriteTorch } from './torch/torch.ts';

const rewriters: readonly Rewriter[] = [rewriteScikitLearn, rewriteTorch, rewriteGraph];

/** Where a time counts, what is computed must stay the same. */
const fasterRewriters: readonly Rewriter[] = [rewriteTorch];

/** Programs that look for rewrites where the script runs. */
const programs: readonly PythonRewriter[] = [];
/** And those where a time counts. */
const fasterPrograms: readonly PythonRewriter[] = [fasterFunctions];

/** The programs that are asked for rewrites of the scripts of a task. */
export function rewritersInPython({ metric }: TaskBrief): readonly PythonRewriter[] {
  return isTimeLike(metric) ? fasterPrograms : programs;
}

/** Everything that could be rewritten in a script, the likeliest to help first; lessons of other runs change that order. `asked`: what programs offered. */
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
