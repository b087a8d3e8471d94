import { nodesOf, textOf } from '../../python-source.ts';
import { hasOwnLines, linesAfter } from '../python-edit.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, type TorchScript, written } from './script.ts';
import { madeOptimizers } from './training.ts';

/** Evaluates on a running average of the weights. */
export function averageWeights(script: TorchScript): Rewrite[] {
  const { source } = script;
  if (/average_weights\(|AveragedModel|\bema\b/i.test(source)) return [];
  const makers = madeOptimizers(script).map(({ call }) => call);
  const places = nodesOf(script.top, 'AssignStatement').flatMap((statement) => {
    const target = statement.firstChild;
    const maker = makers.find(({ from, to }) => from >= statement.from && to <= statement.to);
    const [, model] = /([\w.]+)\.parameters\(\)/.exec(maker === undefined ? '' : textOf(source, maker)) ?? [];
    if (target === null || model === undefined || !hasOwnLines(source, statement)) return [];
    return switches(source, model) ? [{ statement, model, optimizer: textOf(source, target) }] : [];
  });
  return written(script, {
    name: 'torch: averaged weights',
    change: `Evaluation sees a running average of the weights, from ${inLines(
      source,
      places.map(({ statement }) => statement),
    ).slice(3)} on.`,
    reason:
      'the mean of the last weights lies nearer to the middle of a good place (Polyak and Juditsky 1992).',
    weight: 0.35,
    effort: 1.15,
    parts: ['average'],
    edits: places.map(({ statement, model, optimizer }) =>
      linesAfter(source, statement, [`average_weights(${model}, ${optimizer}, decay=0.98)`]),
    ),
  });
}

/**
 * Whether training and evaluation are separate: the averages are put in place by `model.eval()` and removed by
 * `model.train()`, which would continue in a copy of the model. A function may use another name for its model.
 */
function switches(source: string, model: string): boolean {
  const name = model.replaceAll('.', '\\.');
  const isCopied = new RegExp(`copy\\(\\s*${name}\\s*\\)|compile\\(\\s*${name}\\s*[,)]`).test(source);
  return !isCopied && /\.eval\(\)/.test(source) && /\.train\(\)/.test(source) && !/^self$/.test(model);
}
