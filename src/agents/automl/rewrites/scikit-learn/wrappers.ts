import { splice, textOf } from '../../python-source.ts';
import { importedNames, lineOf } from '../python-edit.ts';
import type { Rewrite } from '../rewrite.ts';
import type { Estimator } from './estimators.ts';
import { filled, withImports } from './template.ts';
import { isReplaceable, type Usage } from './usage.ts';

interface Wrapper {
  name: string;
  /** Code around `{own}`, the unchanged estimator. */
  code: string;
  reason: string;
  weight: number;
  effort: number;
}

/** The unchanged estimator, with columns or target prepared for it. */
export function rewriteWrappers(source: string, group: readonly Estimator[], usage: Usage): Rewrite[] {
  const [first] = group;
  if (first === undefined || usage.givesWeights || /\.\s*partial_fit\s*\(/.test(source)) return [];
  if (!group.every((estimator) => isReplaceable(source, estimator))) return [];
  return wrappersFor(first, usage, source).flatMap(({ name, code, reason, weight, effort }): Rewrite[] => {
    const written = filled(code, source, { seed: '0', isBalanced: false });
    if (written === null) return [];
    const edits = group.map(({ call }) => ({
      ...{ from: call.from, to: call.to, text: written.code.replace('{own}', () => textOf(source, call)) },
    }));
    const change = `${first.name} (line ${lineOf(source, first.call)}) gets ${name}.`;
    return [
      {
        name: `scikit-learn: ${name}`,
        change,
        reason,
        weight,
        effort,
        source: withImports(splice(source, edits), written.imports),
      },
    ];
  });
}

function wrappersFor({ family, kind, name }: Estimator, usage: Usage, source: string): Wrapper[] {
  const wrappers: Wrapper[] = [];
  const isRidgeLike = family === 'linear' || family === 'kernel' || family === 'network';
  const needsScale = isRidgeLike || family === 'neighbours' || family === 'process';
  const steps = '{preprocessing.StandardScaler}(), ';
  if (needsScale && !usage.isText && !usage.isScaled && name !== 'LinearRegression') {
    const reason =
      'penalties, distances and steps act alike on all columns only if these have the same scale.';
    wrappers.push({
      name: 'scaled columns',
      code: `{pipeline.make_pipeline}(${steps}{own})`,
      reason,
      weight: 0.8,
      effort: 1,
    });
  }
  if (needsScale && !usage.isText) {
    const code =
      '{pipeline.make_pipeline}({preprocessing.QuantileTransformer}(n_quantiles=100, output_distribution="normal"), {own})';
    wrappers.push({
      name: 'normal columns by quantiles',
      code,
      reason: 'columns with long tails hide their small values from linear models and distances.',
      weight: 0.5,
      effort: 1.5,
    });
  }
  if (family === 'linear' && !usage.isText && !/\bPolynomialFeatures\b/.test(source)) {
    const code = `{pipeline.make_pipeline}(${steps}{preprocessing.PolynomialFeatures}(2, include_bias=False), ${steps}{own})`;
    wrappers.push({
      name: 'products of columns',
      code,
      reason: 'products and squares of columns let a linear model bend.',
      weight: 0.62,
      effort: 3,
    });
  }
  const isRelative = /^(?:rmsle|mape|smape)$/.test(usage.metric);
  const np = [...importedNames(source)].find(([, full]) => full === 'numpy')?.[0];
  if (kind === 'regressor' && np !== undefined && !/\bnp\.log|\bTransformedTarget|\blog1p\b/.test(source)) {
    const code = `{compose.TransformedTargetRegressor}({own}, func=${np}.log1p, inverse_func=${np}.expm1)`;
    const reason = 'errors of a long-tailed positive target weigh evenly on the scale of its logarithm.';
    wrappers.push({
      name: 'the logarithm of the target',
      code,
      reason,
      weight: isRelative ? 0.95 : 0.42,
      effort: 1,
    });
  }
  return wrappers;
}
