import { type Candidate, candidate } from './candidate.ts';
import {
  blending,
  boosting,
  calibrated,
  extra,
  extraTrees,
  histogram,
  kernels,
  logistic,
  scaled,
  scaling,
  supportClasses,
} from './parts.ts';

/** @param probabilities whether each must have `predict_proba` */
export function classifiers(probabilities: boolean): Candidate[] {
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
