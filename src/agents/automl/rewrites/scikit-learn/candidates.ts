import type { Candidate } from './candidate.ts';
import { classifiers } from './classifiers.ts';
import type { Kind } from './estimators.ts';
import { regressors } from './regressors.ts';
import { textModels } from './text-models.ts';

export interface Wanted {
  kind: Kind;
  /** The columns are words or parts of them, in sparse matrices. */
  isText: boolean;
  /** The script asks for probabilities. */
  needsProbabilities: boolean;
  /** What the metric is usually called. */
  metric: string;
}

/** What could stand in an estimator's place, whatever that is now. */
export function candidatesFor({ kind, isText, needsProbabilities, metric }: Wanted): Candidate[] {
  const isAbsolute = /^(?:mae|mape|smape)$/.test(metric);
  const all = isText
    ? textModels(kind)
    : kind === 'regressor'
      ? regressors(isAbsolute ? 'loss="absolute_error", ' : '')
      : classifiers(needsProbabilities);
  return all.filter(({ probabilities }) => kind === 'regressor' || !needsProbabilities || probabilities);
}
