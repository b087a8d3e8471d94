import { type Candidate, candidate } from './candidate.ts';
import type { Kind } from './estimators.ts';
import { blending, boosting, histogram, kernels, logistic, supportVectors } from './parts.ts';

const many = 'on many rare words, linear models lead, and how strongly they are held back decides.';

/** For columns that are words or parts of words, in sparse matrices. */
export function textModels(kind: Kind): Candidate[] {
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
