import type { Family, Kind } from './estimators.ts';

/** An estimator to put in another's place. */
export interface Candidate {
  name: string;
  family: Family;
  /**
   * Python, with `{module.Class}` for what is imported from scikit-learn, `{seed}`, and `{balanced}` for a keyword
   * that weighs classes equally where the metric does.
   */
  code: string;
  reason: string;
  weight: number;
  effort: number;
  /** Learns all outputs at once. */
  manyOutputs: boolean;
  /** Has `predict_proba`; of classifiers only. */
  probabilities: boolean;
  /** `fit` takes `sample_weight`. */
  sampleWeights: boolean;
  /** Takes missing values. */
  missing: boolean;
}

function candidate(
  name: string,
  family: Family,
  weight: number,
  effort: number,
  code: string,
  reason: string,
  abilities: string = '',
): Candidate {
  const has = (ability: string) => abilities.includes(ability);
  const can = { manyOutputs: has('outputs'), probabilities: has('probabilities') };
  return {
    name,
    family,
    code,
    reason,
    weight,
    effort,
    ...can,
    sampleWeights: has('weights'),
    missing: has('missing'),
  };
}

const boosting =
  'boosted trees with small steps lead on most tables of medium size (Grinsztajn et al. 2022).';
const extraTrees =
  'the mean of many randomised trees is robust and hardly needs tuning (Geurts et al. 2006).';
const kernels = 'a Gaussian kernel on scaled columns learns smooth curves from few rows.';
const blending =
  'the mean of models that err differently errs less than each (Breiman 1996; Caruana et al. 2004).';
const scaling = 'penalties and steps act alike on all columns only if these have the same scale.';

// Of classes, every round makes a tree for each.
const histogram = (kind: Wanted['kind'], rest: string) =>
  `{ensemble.HistGradientBoosting${kind === 'classifier' ? 'Classifier' : 'Regressor'}}(learning_rate=${kind === 'classifier' ? '0.1, max_iter=120' : '0.06, max_iter=300'}, max_leaf_nodes=15, min_samples_leaf=10, l2_regularization=1.0, ${rest}random_state={seed})`;
const extra = (kind: string, rest: string) =>
  `{ensemble.ExtraTrees${kind}}(n_estimators=400, min_samples_leaf=${kind === 'Classifier' ? 1 : 2}, n_jobs=-1, ${rest}random_state={seed})`;
const scaledTarget = (code: string) =>
  `{compose.TransformedTargetRegressor}(${code}, transformer={preprocessing.StandardScaler}())`;
const scaled = (code: string) => `{pipeline.make_pipeline}({preprocessing.StandardScaler}(), ${code})`;
const ridge = '{linear_model.RidgeCV}(alphas=[0.001, 0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 1000])';
const logistic = (penalty: number) =>
  `{linear_model.LogisticRegression}(C=${penalty}, max_iter=2000{balanced})`;
const supportVectors = scaledTarget(scaled('{svm.SVR}(C=3.0, epsilon=0.1)'));
const supportClasses = '{svm.SVC}(C=10.0{balanced})';
const calibrated = (code: string) => `{calibration.CalibratedClassifierCV}(${code}, ensemble=False)`;

/** @param loss a keyword of boosting, for what the metric measures */
function regressors(loss: string): Candidate[] {
  const trees = histogram('regressor', loss);
  const forest = extra('Regressor', '');
  return [
    candidate('histogram boosting', 'boosting', 0.92, 4, trees, boosting, 'weights missing'),
    candidate('extra trees', 'forest', 0.9, 3, forest, extraTrees, 'outputs weights'),
    candidate(
      'a blend of boosting, extra trees and support vectors',
      'blend',
      0.88,
      8,
      `{ensemble.VotingRegressor}([("boosting", ${trees}), ("extra_trees", ${forest}), ("support_vectors", ${supportVectors})])`,
      blending,
    ),
    candidate('support vectors on scaled columns', 'kernel', 0.85, 2, supportVectors, kernels),
    candidate(
      'gradient boosting',
      'boosting',
      0.7,
      3,
      `{ensemble.GradientBoostingRegressor}(n_estimators=300, learning_rate=0.05, max_depth=3, min_samples_leaf=5, subsample=0.7, ${loss}random_state={seed})`,
      boosting,
      'weights',
    ),
    candidate('ridge regression on scaled columns', 'linear', 0.68, 1, scaled(ridge), scaling, 'outputs'),
    candidate(
      'ridge regression on products of columns',
      'linear',
      0.6,
      4,
      scaled(
        `{preprocessing.PolynomialFeatures}(2, include_bias=False), {preprocessing.StandardScaler}(), ${ridge}`,
      ),
      'products and squares of columns let a linear model bend.',
      'outputs',
    ),
    candidate(
      'random forest',
      'forest',
      0.55,
      4,
      '{ensemble.RandomForestRegressor}(n_estimators=400, min_samples_leaf=2, max_features=0.5, n_jobs=-1, random_state={seed})',
      extraTrees,
      'outputs weights',
    ),
    candidate(
      'Gaussian process',
      'process',
      0.55,
      40,
      scaled(
        '{gaussian_process.GaussianProcessRegressor}({gaussian_process.kernels.ConstantKernel}() * {gaussian_process.kernels.RBF}(3.0) + {gaussian_process.kernels.WhiteKernel}(0.1), normalize_y=True, random_state={seed})',
      ),
      'a Gaussian process finds the width of its kernel and the noise by itself; for few rows.',
      'outputs',
    ),
    candidate(
      'neural network on scaled columns',
      'network',
      0.5,
      5,
      scaledTarget(
        scaled(
          '{neural_network.MLPRegressor}(hidden_layer_sizes=(128, 64), alpha=0.001, early_stopping=True, max_iter=500, random_state={seed})',
        ),
      ),
      'a small network with early stopping learns smooth curves.',
      'outputs',
    ),
    candidate(
      'nearest neighbours on scaled columns',
      'neighbours',
      0.45,
      2,
      scaled('{neighbors.KNeighborsRegressor}(n_neighbors=8, weights="distance")'),
      'distances mean something only among columns of one scale.',
      'outputs',
    ),
    candidate(
      'lasso on scaled columns',
      'linear',
      0.4,
      2,
      scaled('{linear_model.LassoCV}(random_state={seed})'),
      'many columns may say nothing.',
    ),
  ];
}

function classifiers(probabilities: boolean): Candidate[] {
  const trees = histogram('classifier', '{balanced}');
  const forest = extra('Classifier', '{balanced}');
  const support = probabilities ? calibrated(scaled(supportClasses)) : scaled(supportClasses);
  const all = 'probabilities';
  return [
    candidate('histogram boosting', 'boosting', 0.86, 6, trees, boosting, `${all} weights missing`),
    candidate('extra trees', 'forest', 0.92, 3, forest, extraTrees, `${all} outputs weights`),
    candidate(
      'a blend of boosting, extra trees and support vectors',
      'blend',
      0.82,
      12,
      `{ensemble.VotingClassifier}([("boosting", ${trees}), ("extra_trees", ${forest}), ("support_vectors", ${calibrated(scaled(supportClasses))})], voting="soft")`,
      blending,
      all,
    ),
    candidate(
      'support vectors',
      'kernel',
      0.88,
      2,
      probabilities ? calibrated(supportClasses) : supportClasses,
      'a Gaussian kernel suits columns that have one scale already, such as pixels.',
      `${all} weights`,
    ),
    candidate('support vectors on scaled columns', 'kernel', 0.85, 2, support, kernels, all),
    candidate('logistic regression on scaled columns', 'linear', 0.6, 1, scaled(logistic(1)), scaling, all),
    candidate(
      'neural network on scaled columns',
      'network',
      0.58,
      4,
      scaled(
        '{neural_network.MLPClassifier}(hidden_layer_sizes=(128, 64), alpha=0.001, early_stopping=True, max_iter=300, random_state={seed})',
      ),
      'a small network with early stopping learns smooth borders.',
      `${all} outputs`,
    ),
    candidate(
      'gradient boosting',
      'boosting',
      0.56,
      6,
      '{ensemble.GradientBoostingClassifier}(n_estimators=200, learning_rate=0.06, max_depth=3, min_samples_leaf=5, subsample=0.7, random_state={seed})',
      boosting,
      `${all} weights`,
    ),
    candidate(
      'random forest',
      'forest',
      0.55,
      3,
      '{ensemble.RandomForestClassifier}(n_estimators=400, n_jobs=-1, {balanced}random_state={seed})',
      extraTrees,
      `${all} outputs weights`,
    ),
    candidate(
      'nearest neighbours on scaled columns',
      'neighbours',
      0.45,
      2,
      scaled('{neighbors.KNeighborsClassifier}(n_neighbors=8, weights="distance")'),
      'distances mean something only among columns of one scale.',
      `${all} outputs`,
    ),
    candidate(
      'logistic regression on products of columns',
      'linear',
      0.4,
      6,
      scaled(
        `{preprocessing.PolynomialFeatures}(2, include_bias=False), {preprocessing.StandardScaler}(), ${logistic(0.1)}`,
      ),
      'products and squares of columns let a linear model bend.',
      all,
    ),
  ];
}

const many = 'on many rare words, linear models lead, and how strongly they are held back decides.';

function forTexts(kind: Kind): Candidate[] {
  const components = '{pipeline.make_pipeline}({decomposition.TruncatedSVD}(100, random_state={seed}), ';
  if (kind === 'regressor') {
    const weak = '{linear_model.Ridge}(alpha=0.3)';
    const strong = '{linear_model.Ridge}(alpha=3.0)';
    const trees = `${components}${histogram('regressor', '')})`;
    return [
      candidate(
        'ridge regression for words, held back more',
        'linear',
        0.85,
        1,
        strong,
        many,
        'outputs weights',
      ),
      candidate(
        'ridge regression for words, held back less',
        'linear',
        0.75,
        1,
        weak,
        many,
        'outputs weights',
      ),
      candidate(
        'a blend of ridge regression and boosted components',
        'blend',
        0.8,
        5,
        `{ensemble.VotingRegressor}([("ridge", ${strong}), ("boosting", ${trees})])`,
        blending,
      ),
      candidate('boosting on components of words', 'boosting', 0.6, 5, trees, boosting),
      candidate(
        'support vectors on components of words',
        'kernel',
        0.6,
        4,
        `${components}${supportVectors})`,
        kernels,
      ),
    ];
  }
  const all = 'probabilities';
  const bayes = '{naive_bayes.ComplementNB}(alpha=0.3)';
  return [
    candidate(
      'logistic regression for words, held back less',
      'linear',
      0.88,
      2,
      logistic(10),
      many,
      `${all} weights`,
    ),
    candidate(
      'linear support vectors for words',
      'linear',
      0.85,
      1,
      '{svm.LinearSVC}(C=0.5{balanced})',
      many,
      'weights',
    ),
    candidate(
      'complement naive Bayes',
      'bayes',
      0.7,
      1,
      bayes,
      'it needs few texts and bears uneven classes (Rennie et al. 2003).',
      `${all} weights`,
    ),
    candidate(
      'a blend of logistic regression and naive Bayes',
      'blend',
      0.8,
      3,
      `{ensemble.VotingClassifier}([("logistic", ${logistic(10)}), ("bayes", ${bayes})], voting="soft")`,
      blending,
      all,
    ),
    candidate(
      'logistic regression for words, held back little',
      'linear',
      0.6,
      3,
      logistic(100),
      many,
      `${all} weights`,
    ),
  ];
}

export interface Wanted {
  kind: Kind;
  /** The columns are words or parts of them, in sparse matrices. */
  isText: boolean;
  /** The script asks for probabilities. */
  needsProbabilities: boolean;
  /** What the metric is usually called. */
  metric: string;
}

export function candidatesFor({ kind, isText, needsProbabilities, metric }: Wanted): Candidate[] {
  const isAbsolute = /^(?:mae|mape|smape)$/.test(metric);
  const all = isText
    ? forTexts(kind)
    : kind === 'regressor'
      ? regressors(isAbsolute ? 'loss="absolute_error", ' : '')
      : classifiers(needsProbabilities);
  return all.filter(({ probabilities }) => kind === 'regressor' || !needsProbabilities || probabilities);
}
