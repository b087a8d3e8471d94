import type { Kind } from './estimators.ts';

/** Reasons and pieces of code that several candidates share. */
export const boosting =
  'boosted trees with small steps lead on most tables of medium size (Grinsztajn et al. 2022).';
export const extraTrees =
  'the mean of many randomised trees is robust and hardly needs tuning (Geurts et al. 2006).';
export const kernels = 'a Gaussian kernel on scaled columns learns smooth curves from few rows.';
export const blending =
  'the mean of models that err differently errs less than each (Breiman 1996; Caruana et al. 2004).';
export const scaling = 'penalties and steps act alike on all columns only if these have the same scale.';

// For classes, every round makes a tree for each.
export const histogram = (kind: Kind, rest: string) =>
  `{ensemble.HistGradientBoosting${kind === 'classifier' ? 'Classifier' : 'Regressor'}}(learning_rate=${kind === 'classifier' ? '0.1, max_iter=120' : '0.06, max_iter=300'}, max_leaf_nodes=15, min_samples_leaf=10, l2_regularization=1.0, ${rest}random_state={seed})`;
export const extra = (kind: string, rest: string) =>
  `{ensemble.ExtraTrees${kind}}(n_estimators=400, min_samples_leaf=${kind === 'Classifier' ? 1 : 2}, n_jobs=-1, ${rest}random_state={seed})`;
export const scaledTarget = (code: string) =>
  `{compose.TransformedTargetRegressor}(${code}, transformer={preprocessing.StandardScaler}())`;
export const scaled = (code: string) => `{pipeline.make_pipeline}({preprocessing.StandardScaler}(), ${code})`;
export const ridge = '{linear_model.RidgeCV}(alphas=[0.001, 0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 1000])';
export const logistic = (penalty: number) =>
  `{linear_model.LogisticRegression}(C=${penalty}, max_iter=2000{balanced})`;
export const supportVectors = scaledTarget(scaled('{svm.SVR}(C=3.0, epsilon=0.1)'));
export const supportClasses = '{svm.SVC}(C=10.0{balanced})';
export const calibrated = (code: string) => `{calibration.CalibratedClassifierCV}(${code}, ensemble=False)`;
