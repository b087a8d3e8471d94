import type { Candidate } from './candidate.ts';
import { classifiers } from './classifiers.ts';
import type { Kind } from './estimators.ts';
import { regressors } from './regressors.ts';
import { textModels } from './text-models.ts';

export interface Wanted {
  kind: Kind;
  /** The columns are words or parts of words, in sparse matrices. */
  isText: boolean;
  /** The script uses probabilities. */
  needsProbabilities: boolean;
  /** The usual name of the metric. */
  metric: string;
}

/** Possible replacements of an estimator, whatever it is now. */
export function candidatesFor({ kind, isText, needsProbabilities, metric }: Wanted): Candidate[] {
  const isAbsolute = /^(?:mae|mape|smape)$/.test(metric);
  const all = isText
    ? textModels(kind)
    : kind === 'regressor'
      ? regressors(isAbsolute ? 'loss="absolute_error", ' : '')
      : classifiers(needsProbabilities);
  return all.filter(({ probabilities }) => kind === 'regressor' || !needsProbabilities || probabilities);
}
