import type { TaskBrief } from '../../../schema/index.ts';
import { usualName } from '../../search/metric-names.ts';
import { nodesOf, parsePython, type SyntaxNode, splice, syntaxErrors, textOf } from '../python-source.ts';
import { fullNameOf, importedNames, lineOf, withImport } from './python-edit.ts';
import type { Rewrite, Rewriter } from './rewrite.ts';

/** What a script's estimators become. `{module.Name}` is imported from scikit-learn, `{own}` is the present call. */
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
const blend = 'the mean of models that err differently errs less than each (Breiman 1996).';
const scaling = 'penalties and steps act alike on all columns only if these have the same scale.';
const words = 'on many rare words, linear models lead, and their regularisation decides.';

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
  const ridge = scaled('{linear_model.RidgeCV}(alphas=[0.001, 0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 1000])');
  const all = `{ensemble.VotingRegressor}([("boosting", ${boosted}), ("trees", ${forest}), ("support", ${support})])`;
  return [
    { name: 'histogram boosting', code: boosted, reason: boosting, weight: 0.92, effort: 4 },
    { name: 'extra trees', code: forest, reason: trees, weight: 0.9, effort: 3, manyOutputs: true },
    { name: 'a blend of three models', code: all, reason: blend, weight: 0.88, effort: 8 },
    { name: 'support vectors on scaled columns', code: support, reason: kernel, weight: 0.85, effort: 2 },
    {
      name: 'ridge on scaled columns',
      code: ridge,
      reason: scaling,
      weight: 0.68,
      effort: 1,
      manyOutputs: true,
    },
  ];
}

/** @param probabilities whether each must have `predict_proba` */
function classifiers(probabilities: boolean): Replacement[] {
  const boosted =
    '{ensemble.HistGradientBoostingClassifier}(learning_rate=0.1, max_iter=120, max_leaf_nodes=15, min_samples_leaf=10, l2_regularization=1.0, {balanced}random_state={seed})';
  const forest =
    '{ensemble.ExtraTreesClassifier}(n_estimators=400, n_jobs=-1, {balanced}random_state={seed})';
  const support = scaled('{svm.SVC}(C=10.0, {balanced})');
  const logistic = scaled('{linear_model.LogisticRegression}(max_iter=2000, {balanced})');
  const all = `{ensemble.VotingClassifier}([("boosting", ${boosted}), ("trees", ${forest}), ("support", ${calibrated(support)})], voting="soft")`;
  const kernels = probabilities ? calibrated(support) : support;
  return [
    { name: 'extra trees', code: forest, reason: trees, weight: 0.92, effort: 3 },
    { name: 'histogram boosting', code: boosted, reason: boosting, weight: 0.86, effort: 6 },
    { name: 'support vectors on scaled columns', code: kernels, reason: kernel, weight: 0.85, effort: 2 },
    { name: 'a blend of three models', code: all, reason: blend, weight: 0.82, effort: 12 },
    {
      name: 'logistic regression on scaled columns',
      code: logistic,
      reason: scaling,
      weight: 0.6,
      effort: 1,
    },
  ];
}

/** For columns that are counts of words, in sparse matrices. */
function textModels(kind: Kind, probabilities: boolean): Replacement[] {
  if (kind === 'regressor')
    return [0.3, 3].map((alpha) => ({
      ...{ name: `ridge for words (${alpha})`, code: `{linear_model.Ridge}(alpha=${alpha})` },
      ...{ reason: words, weight: 0.8, effort: 1, manyOutputs: true },
    }));
  const logistic = '{linear_model.LogisticRegression}(C=10.0, max_iter=2000, {balanced})';
  const support = '{svm.LinearSVC}(C=0.5, {balanced})';
  const linear = probabilities ? calibrated(support) : support;
  return [
    { name: 'logistic regression for words', code: logistic, reason: words, weight: 0.88, effort: 2 },
    { name: 'linear support vectors for words', code: linear, reason: words, weight: 0.85, effort: 1 },
    {
      ...{
        name: 'complement naive Bayes',
        code: '{naive_bayes.ComplementNB}(alpha=0.3)',
        weight: 0.7,
        effort: 1,
      },
      reason: 'it needs few texts and bears uneven classes (Rennie et al. 2003).',
    },
  ];
}

/** The present estimators, with columns or target prepared for them. */
function wrappers(kind: Kind, metric: string, isText: boolean): Replacement[] {
  const offers: Replacement[] = [];
  if (!isText)
    offers.push({ name: 'scaled columns', code: scaled('{own}'), reason: scaling, weight: 0.8, effort: 1 });
  if (kind === 'regressor')
    offers.push({
      name: 'the logarithm of the target',
      code: '{compose.TransformedTargetRegressor}({own}, transformer={preprocessing.FunctionTransformer}(func={np.log1p}, inverse_func={np.expm1}))',
      reason: 'errors of a long-tailed positive target weigh evenly on the scale of its logarithm.',
      weight: /^(?:rmsle|mape|smape)$/.test(metric) ? 0.95 : 0.42,
      effort: 1,
    });
  return offers;
}

type Kind = 'classifier' | 'regressor';

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
 * Replaces the scikit-learn estimators of one class by others that predict the same, or prepares columns or target for
 * them. That a replacement works is found out by running it.
 */
export const rewriteEstimators: Rewriter = (source, { task }) => {
  if (!/\bsklearn\b/.test(source) || special.test(source) || syntaxErrors(source) > 0) return [];
  // The first estimator is often a baseline; the last one makes the submission.
  const [name, calls] = [...estimatorsIn(source)].at(-1) ?? [];
  if (name === undefined || calls === undefined) return [];
  return replacementsFor(name, source, task).map((replacement): Rewrite => {
    const edits = calls.map((call) => ({
      ...{ from: call.from, to: call.to },
      text: filled(replacement.code, source, task).replace('{own}', () => textOf(source, call)),
    }));
    return {
      name: `scikit-learn: ${replacement.name}`,
      change: `${name} (line ${calls.map((call) => lineOf(source, call)).join(', ')}) becomes ${replacement.name}.`,
      ...{ reason: replacement.reason, weight: replacement.weight, effort: replacement.effort },
      source: importsOf(replacement.code).reduce(withImport, splice(source, edits)),
    };
  });
};

function replacementsFor(name: string, source: string, task: TaskBrief): Replacement[] {
  const metric = usualName(task.metric);
  const kind = classes.test(name) ? 'classifier' : 'regressor';
  const isText = /\b(?:Tfidf|Count|Hashing)Vectorizer\s*\(/.test(source);
  const probabilities = /predict_(?:log_)?proba|roc_auc|log_loss|brier/.test(source);
  const loss = /^(?:mae|mape|smape|wape)$/.test(metric) ? 'loss="absolute_error", ' : '';
  const others = isText
    ? textModels(kind, probabilities)
    : kind === 'regressor'
      ? regressors(loss)
      : classifiers(probabilities);
  const hasManyOutputs =
    kind === 'regressor' &&
    task.submission.files.some((file) => file.format === 'csv' && file.columns.length > 1);
  return [...others.filter((each) => !hasManyOutputs || each.manyOutputs), ...wrappers(kind, metric, isText)];
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
  return [...names].map((name) =>
    name === 'np' ? 'import numpy as sk_np' : `from sklearn import ${name} as sk_${name}`,
  );
}
