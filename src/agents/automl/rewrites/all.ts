import { rewriteLoops } from './loops/rewrite-loops.ts';
import type { Rewrite, Rewriter, Surroundings } from './rewrite.ts';
import { rewriteScikitLearn } from './scikit-learn/rewrite-scikit-learn.ts';
import { rewriteTorch } from './torch/torch.ts';

const rewriters: readonly Rewriter[] = [rewriteLoops, rewriteScikitLearn, rewriteTorch];

/** Everything that could be rewritten in a script, the likeliest to help first. */
export function allRewrites(source: string, surroundings: Surroundings): Rewrite[] {
  return rewriters
    .flatMap((rewriter) => rewriter(source, surroundings))
    .sort((left, right) => right.weight - left.weight);
}
