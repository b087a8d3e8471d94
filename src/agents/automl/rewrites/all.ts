import { isTimeLike } from '../../search/metric-names.ts';
import { rewriteGraph } from './graph.ts';
import { rewritePredictors } from './predictors.ts';
import type { Rewrite, Rewriter, Surroundings } from './rewrite.ts';
import { rewriteTorch } from './torch/torch.ts';

const rewriters: readonly Rewriter[] = [rewriteTorch, rewriteGraph, rewritePredictors];

/** If the metric is a time, the computation must stay the same. */
const fasterRewriters: readonly Rewriter[] = [rewriteTorch];

/** All possible rewrites of a script, the most promising first. `asked`: the offers of programs. */
export function allRewrites(
  source: string,
  surroundings: Surroundings,
  asked: readonly Rewrite[] = [],
): Rewrite[] {
  const chosen = isTimeLike(surroundings.task.metric) ? fasterRewriters : rewriters;
  return [...asked, ...chosen.flatMap((rewriter) => rewriter(source, surroundings))]
    .filter(({ name }) => !surroundings.leftOut?.some((each) => name.startsWith(each)))
    .sort((left, right) => right.weight - left.weight);
}
