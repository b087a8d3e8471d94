import type { Family } from './estimators.ts';

/** An estimator that can replace another one. */
export interface Candidate {
  name: string;
  family: Family;
  /**
   * Python, with `{module.Class}` for imports from scikit-learn, `{seed}`, and `{balanced}` for a keyword that weights
   * classes equally if the metric does.
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

/** The abilities of a candidate, as words: `outputs probabilities weights missing`, like the fields above. */
export function candidate(
  name: string,
  family: Family,
  weight: number,
  effort: number,
  code: string,
  reason: string,
  abilities = '',
): Candidate {
  const able = new Set(abilities.split(' '));
  return {
    ...{ name, family, code, reason, weight, effort },
    manyOutputs: able.has('outputs'),
    probabilities: able.has('probabilities'),
    sampleWeights: able.has('weights'),
    missing: able.has('missing'),
  };
}
