import type { TaskBrief } from '../../../../schema/index.ts';
import { usualName } from '../../../search/metric-names.ts';
import type { Estimator } from './estimators.ts';

/** How a script uses its estimators. */
export interface Usage {
  isText: boolean;
  needsProbabilities: boolean;
  needsDecisions: boolean;
  givesWeights: boolean;
  isScaled: boolean;
  /** Predicts several numbers at once. */
  hasManyOutputs: boolean;
  /** Classes count equally, no matter how rare. */
  isBalanced: boolean;
  metric: string;
}

export function usageOf(source: string, task: TaskBrief): Usage {
  const metric = usualName(task.metric);
  const columns = task.submission.files.flatMap((file) =>
    file.format === 'csv' ? [file.columns.length] : [],
  );
  return {
    isText: /\b(?:Tfidf|Count|Hashing)Vectorizer\s*\(/.test(source),
    needsProbabilities:
      /predict_(?:log_)?proba|["']roc_auc|["']neg_log_loss|["']neg_brier|voting\s*=\s*["']soft/.test(source),
    needsDecisions: /\bdecision_function\b/.test(source),
    givesWeights: /\bsample_weight\s*=/.test(source),
    isScaled: /\b(?:Standard|MinMax|Robust|MaxAbs)Scaler\s*\(|\b(?:Quantile|Power)Transformer\s*\(/.test(
      source,
    ),
    hasManyOutputs: columns.some((count) => count > 1) || /\bMultiOutputRegressor\b/.test(source),
    isBalanced: /^f1$|macro|balanced|matthews|kappa/.test(metric),
    metric,
  };
}

/** The attributes that all classifiers and regressors, and pipelines of them, have. */
const common = /^(?:classes_|n_features_in_|feature_names_in_|best_\w+_|cv_results_)$/;
const special =
  /\.\s*(?:staged_\w+|kneighbors\w*|apply|decision_path|get_depth|get_n_leaves|cost_complexity_pruning_path|sparsify|densify|named_steps|named_estimators|steps|set_params|tree_)\b|\breturn_(?:std|cov)\s*=|\b(?:export_text|export_graphviz|plot_tree|permutation_importance)\s*\(|\bwarm_start\s*=\s*True/;

/**
 * Whether an estimator of another family could replace it, as far as the syntax shows.
 * @param used the script that it would be used in
 */
export function isReplaceable(source: string, { variable, call }: Estimator, used = source): boolean {
  if (special.test(used) || /\b\w*(?:GridSearchCV|RandomizedSearchCV|SearchCV)\s*\(/.test(used)) return false;
  const after = source.slice(call.to, call.to + 200);
  if (/^\s*\.\s*(?!fit\b|predict)\w+/.test(after)) return false;
  for (const [, owner = '', attribute = ''] of used.matchAll(/([\w\])]+)\s*\.\s*([a-z]\w*_)\b(?!\s*\()/g)) {
    const isOwn = variable === null || owner === variable.replace(/^.*\./, '') || /[\])]$/.test(owner);
    if (isOwn && !common.test(attribute)) return false;
  }
  return true;
}
