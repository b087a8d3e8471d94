import type { Family } from './estimators.ts';

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

/** What a candidate can do, in words: `outputs probabilities weights missing`, as the fields above say. */
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
