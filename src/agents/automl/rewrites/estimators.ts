import type { TaskBrief } from '../../../schema/index.ts';
import { usualName } from '../../search/metric-names.ts';
import { nodesOf, parsePython, type SyntaxNode } from '../python-source.ts';
import { fullNameOf, importedNames } from './python-edit.ts';
import type { Rewriter } from './rewrite.ts';
import { inLines, written } from './written.ts';

const boosting = {
  title: 'histogram boosting',
  reason: 'boosted trees with small steps lead on most tables of medium size (Grinsztajn et al. 2022).',
  effort: 4,
};
const trees = {
  title: 'extra trees',
  reason: 'the mean of many randomised trees is robust and hardly needs tuning (Geurts et al. 2006).',
  effort: 3,
};

const modules =
  /^sklearn\.(?:linear_model|svm|neighbors|tree|ensemble|neural_network|naive_bayes|gaussian_process|kernel_ridge|discriminant_analysis|dummy)\.(?:\w+\.)*([A-Z]\w*)$/;
const classes =
  /Classifier(?:CV)?$|SVC$|NB$|^LogisticRegression(?:CV)?$|DiscriminantAnalysis$|^(?:Perceptron|NearestCentroid)$/;
/** Uses of an estimator that only its own class, or an unfitted one, allows; and counted words, where others lead. */
const special =
  /\b\w*SearchCV\s*\(|\.\s*(?:partial_fit|coef_|feature_importances_|staged_\w+)\b|\bsample_weight\s*=|Vectorizer\s*\(/;

/**
 * Replaces the scikit-learn estimators of one class by others that predict the same. That a replacement works is found
 * out by running it.
 */
export const rewriteEstimators: Rewriter = (source, { task }) => {
  if (special.test(source)) return [];
  const imports = importedNames(source);
  const found = new Map<string, SyntaxNode[]>();
  for (const call of nodesOf(parsePython(source), 'CallExpression')) {
    const name = modules.exec(fullNameOf(source, call.firstChild, imports) ?? '')?.[1];
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), call]);
  }
  // The first estimator is often a baseline; the last one makes the submission.
  const [name, calls] = [...found].at(-1) ?? [];
  if (name === undefined || calls === undefined) return [];
  return replacementsFor(name, source, task).flatMap(({ title, code, ...rest }, place) =>
    written(source, {
      ...{ ...rest, name: `scikit-learn: ${title}`, weight: 0.92 - place / 50 },
      change: `${name} ${inLines(source, calls)} becomes ${title}.`,
      edits: calls.map(({ from, to }) => ({ from, to, text: `sk_ensemble.${code}` })),
      // Under a name of its own, which means nothing else in a script.
      lines: ['from sklearn import ensemble as sk_ensemble'],
    }),
  );
};

function replacementsFor(name: string, source: string, task: TaskBrief) {
  // A name may be known only in its own scope; a constant of the module is known everywhere.
  const seed = /^(SEED|RANDOM_STATE|RANDOM_SEED|seed|random_state)\s*(?::[^=\n]+)?=[^=]/m.exec(source)?.[1];
  const end = `random_state=${seed ?? '0'})`;
  const few = 'max_leaf_nodes=15, min_samples_leaf=10, l2_regularization=1.0';
  const metric = usualName(task.metric);
  if (classes.test(name)) {
    const isBalanced = /^f1$|macro|balanced|matthews|kappa/.test(metric);
    const balanced = isBalanced ? 'class_weight="balanced", ' : '';
    const boosted = `HistGradientBoostingClassifier(learning_rate=0.1, max_iter=120, ${few}, ${balanced}${end}`;
    const forest = `ExtraTreesClassifier(n_estimators=400, n_jobs=-1, ${balanced}${end}`;
    return [
      { ...trees, code: forest },
      { ...boosting, code: boosted },
    ];
  }
  const loss = /^(?:mae|mape|smape|wape)$/.test(metric) ? 'loss="absolute_error", ' : '';
  const boosted = `HistGradientBoostingRegressor(learning_rate=0.06, max_iter=300, ${few}, ${loss}${end}`;
  const forest = `ExtraTreesRegressor(n_estimators=400, min_samples_leaf=2, n_jobs=-1, ${end}`;
  return [
    { ...boosting, code: boosted },
    { ...trees, code: forest },
  ];
}
