import type { Lesson } from '../../../schema/index.ts';
import { isTimeLike } from '../../search/metric-names.ts';
import { hintForRewrite } from '../hints.ts';
import { rewriteCaching } from './caching.ts';
import { rewriteGraph } from './graph.ts';
import { rewriteLoops } from './loops/rewrite-loops.ts';
import type { Rewrite, Rewriter, Surroundings } from './rewrite.ts';
import { rewriteScikitLearn } from './scikit-learn/rewrite-scikit-learn.ts';
import { rewriteTorch } from './torch/torch.ts';

const rewriters: readonly Rewriter[] = [rewriteLoops, rewriteScikitLearn, rewriteTorch, rewriteGraph];

/** Where a time counts, what is computed must stay the same. */
const fasterRewriters: readonly Rewriter[] = [rewriteLoops, rewriteCaching, rewriteTorch];

/** Everything that could be rewritten in a script, the likeliest to help first; lessons of other runs change that order. */
export function allRewrites(
  source: string,
  surroundings: Surroundings,
  experience: readonly Lesson[],
): Rewrite[] {
  const offered = isTimeLike(surroundings.task.metric) ? fasterRewriters : rewriters;
  return offered
    .flatMap((rewriter) => rewriter(source, surroundings))
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
