import { isTimeLike } from '../../../search/metric-names.ts';
import type { Rewriter } from '../rewrite.ts';
import { useLastPosition } from './last-position.ts';
import { trainLonger } from './length.ts';
import { usualRecipes } from './recipes.ts';
import { readTorchScript } from './script.ts';

/**
 * Other ways to train the models of PyTorch scripts; if the metric is a time, a way to make the scripts faster.
 */
export const rewriteTorch: Rewriter = (source, { task }) => {
  const script = readTorchScript(source);
  if (script === null) return [];
  if (isTimeLike(task.metric)) return useLastPosition(script, task.submission.files);
  return [...usualRecipes(script), ...trainLonger(script)];
};
