import { type Candidate, candidate } from './candidate.ts';
import {
  blending,
  boosting,
  extra,
  extraTrees,
  histogram,
  kernels,
  ridge,
  scaled,
  scaledTarget,
  scaling,
  supportVectors,
} from './parts.ts';

/** @param loss a keyword of boosting that matches the metric */
export function regressors(loss: string): Candidate[] {
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
