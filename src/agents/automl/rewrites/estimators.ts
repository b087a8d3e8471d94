import type { TaskBrief } from '../../../schema/index.ts';
import { usualName } from '../../search/metric-names.ts';
import { nodesOf, parsePython, type SyntaxNode, textOf } from '../python-source.ts';
import { fullNameOf, importedNames } from './python-edit.ts';
import type { Rewriter } from './rewrite.ts';
import { inLines, written } from './written.ts';

/** What a script's estimators become. `{module.Name}` is imported from scikit-learn. */
interface Replacement {
  name: string;
  code: string;
  reason: string;
  weight: number;
  effort: number;
  /** Learns several targets at once. */
  manyOutputs?: boolean;
}

const boosting =
  'boosted trees with small steps lead on most tables of medium size (Grinsztajn et al. 2022).';
const trees = 'the mean of many randomised trees is robust and hardly needs tuning (Geurts et al. 2006).';
const kernel = 'a Gaussian kernel on scaled columns learns smooth curves from few rows.';
const scaling = 'penalties and steps act alike on all columns only if these have the same scale.';

const scaled = (code: string) => `{pipeline.make_pipeline}({preprocessing.StandardScaler}(), ${code})`;
const scaledTarget = (code: string) =>
  `{compose.TransformedTargetRegressor}(${code}, transformer={preprocessing.StandardScaler}())`;
const calibrated = (code: string) => `{calibration.CalibratedClassifierCV}(${code}, ensemble=False)`;

/** @param loss keyword of boosting that suits the metric */
function regressors(loss: string): Replacement[] {
  const boosted = `{ensemble.HistGradientBoostingRegressor}(learning_rate=0.06, max_iter=300, max_leaf_nodes=15, min_samples_leaf=10, l2_regularization=1.0, ${loss}random_state={seed})`;
  const forest =
    '{ensemble.ExtraTreesRegressor}(n_estimators=400, min_samples_leaf=2, n_jobs=-1, random_state={seed})';
  const support = scaledTarget(scaled('{svm.SVR}(C=3.0, epsilon=0.1)'));
  return [
    { name: 'histogram boosting', code: boosted, reason: boosting, weight: 0.92, effort: 4 },
    { name: 'extra trees', code: forest, reason: trees, weight: 0.9, effort: 3, manyOutputs: true },
    { name: 'support vectors on scaled columns', code: support, reason: kernel, weight: 0.85, effort: 2 },
  ];
}

/** Of a quantile, which the estimator names itself. */
const ofQuantile: Replacement = {
  name: 'histogram boosting',
  code: '{ensemble.HistGradientBoostingRegressor}(loss="quantile", quantile={quantile}, learning_rate=0.06, max_iter=200, max_leaf_nodes=15, l2_regularization=1.0, random_state={seed})',
  ...{ reason: boosting, weight: 0.92, effort: 4 },
};

/** @param probabilities whether each must have `predict_proba` */
function classifiers(probabilities: boolean): Replacement[] {
  const boosted =
    '{ensemble.HistGradientBoostingClassifier}(learning_rate=0.1, max_iter=120, max_leaf_nodes=15, min_samples_leaf=10, l2_regularization=1.0, {balanced}random_state={seed})';
  const forest =
    '{ensemble.ExtraTreesClassifier}(n_estimators=400, n_jobs=-1, {balanced}random_state={seed})';
  const support = scaled('{svm.SVC}(C=10.0, {balanced})');
  const logistic = scaled('{linear_model.LogisticRegression}(max_iter=2000, {balanced})');
  const kernels = probabilities ? calibrated(support) : support;
  return [
    { name: 'extra trees', code: forest, reason: trees, weight: 0.92, effort: 3 },
    { name: 'histogram boosting', code: boosted, reason: boosting, weight: 0.86, effort: 6 },
    { name: 'support vectors on scaled columns', code: kernels, reason: kernel, weight: 0.85, effort: 2 },
    {
      name: 'logistic regression on scaled columns',
      code: logistic,
      reason: scaling,
      weight: 0.6,
      effort: 1,
    },
  ];
}

const modules =
  /^sklearn\.(?:linear_model|svm|neighbors|tree|ensemble|neural_network|naive_bayes|gaussian_process|kernel_ridge|discriminant_analysis|dummy)\.(?:\w+\.)*([A-Z]\w*)$/;
const classes =
  /Classifier(?:CV)?$|SVC$|NB$|^LogisticRegression(?:CV)?$|DiscriminantAnalysis$|^(?:Perceptron|NearestCentroid)$/;
/** Uses of an estimator that only its own class, or an unfitted one, allows. */
const special =
  /\b\w*SearchCV\s*\(|\.\s*(?:partial_fit|coef_|feature_importances_|staged_\w+)\b|\bsample_weight\s*=/;

/** Every call that makes an estimator, except those inside others, by the estimator's name. */
function estimatorsIn(source: string): Map<string, SyntaxNode[]> {
  const imports = importedNames(source);
  const found = new Map<string, SyntaxNode[]>();
  let end = 0;
  for (const call of nodesOf(parsePython(source), 'CallExpression').sort((a, b) => a.from - b.from)) {
    const name = modules.exec(fullNameOf(source, call.firstChild, imports) ?? '')?.[1];
    if (name === undefined || call.from < end) continue;
    end = call.to;
    found.set(name, [...(found.get(name) ?? []), call]);
  }
  return found;
}

/**
 * Replaces the scikit-learn estimators of one class by others that predict the same. That a replacement works is found
 * out by running it.
 */
export const rewriteEstimators: Rewriter = (source, { task }) => {
  if (!/\bsklearn\b/.test(source) || special.test(source)) return [];
  // The first estimator is often a baseline; the last one makes the submission.
  const [name, calls] = [...estimatorsIn(source)].at(-1) ?? [];
  if (name === undefined || calls === undefined) return [];
  const quantiles = calls.map((call) => /\bquantile\s*=\s*([\w.[\]]+)/.exec(textOf(source, call))?.[1]);
  const areOfQuantiles = quantiles.every((quantile) => quantile !== undefined);
  const replacements = areOfQuantiles ? [ofQuantile] : replacementsFor(name, source, task);
  return replacements.flatMap(({ name: title, code, reason, weight, effort }) =>
    written(source, {
      name: `scikit-learn: ${title}`,
      change: `${name} ${inLines(source, calls)} becomes ${title}.`,
      ...{ reason, weight, effort },
      edits: calls.map(({ from, to }, place) => ({
        ...{ from, to },
        text: filled(code, source, task).replace('{quantile}', quantiles[place] ?? ''),
      })),
      lines: importsOf(code),
    }),
  );
};

function replacementsFor(name: string, source: string, task: TaskBrief): Replacement[] {
  // Linear models lead on words, and few others take so many columns.
  if (/\b(?:Tfidf|Count|Hashing)Vectorizer\s*\(/.test(source)) return [];
  if (classes.test(name)) return classifiers(/predict_(?:log_)?proba|roc_auc|log_loss|brier/.test(source));
  const metric = usualName(task.metric);
  const others = regressors(/^(?:mae|mape|smape|wape)$/.test(metric) ? 'loss="absolute_error", ' : '');
  const hasManyOutputs = task.submission.files.some(
    (file) => file.format === 'csv' && file.columns.length > 1,
  );
  return others.filter((each) => !hasManyOutputs || each.manyOutputs);
}

const imported = /\{(\w+)\.(\w+)\}/g;

function filled(code: string, source: string, task: TaskBrief): string {
  const isBalanced = /^f1$|macro|balanced|matthews|kappa/.test(usualName(task.metric));
  // A name may be known only in its own scope; a constant of the module is known everywhere.
  const seed = /^(SEED|RANDOM_STATE|RANDOM_SEED|seed|random_state)\s*(?::[^=\n]+)?=[^=]/m.exec(source)?.[1];
  return code
    .replaceAll('{seed}', seed ?? '0')
    .replaceAll('{balanced}', isBalanced ? 'class_weight="balanced", ' : '')
    .replaceAll(', )', ')')
    .replace(imported, (_, module: string, name: string) => `sk_${module}.${name}`);
}

/** Under names of their own, which mean nothing else in a script. */
function importsOf(code: string): string[] {
  const names = new Set([...code.matchAll(imported)].map(([, module = '']) => module));
  return [...names].map((name) => `from sklearn import ${name} as sk_${name}`);
}
