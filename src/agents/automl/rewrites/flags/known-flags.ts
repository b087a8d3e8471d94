/** A boolean keyword of a library's constructor whose meaning is known. */
export interface KnownFlag {
  /** The full names of the constructors. */
  of: RegExp;
  keyword: string;
  /** What it is where it is not given; null where only a flag that is given is turned over. */
  usually: boolean | null;
  /** The call must say this, or must not, for the other value to work. */
  needs?: RegExp;
  forbids?: RegExp;
  /** What is said for the other value. */
  reason: string;
  weight: number;
}

const linear =
  /^sklearn\.(?:linear_model\.(?:\w*Regression|Ridge\w*|Lasso\w*|ElasticNet\w*|SGD\w+|Perceptron)|svm\.LinearSV[CR])$/;

export const knownFlags: readonly KnownFlag[] = [
  {
    of: /^torch\.nn\.(?:\w+\.)*Transformer(?:(?:En|De)coderLayer)?$/,
    keyword: 'norm_first',
    usually: false,
    reason: 'where the normalisation stands decides how steadily a transformer learns (Xiong et al. 2020).',
    weight: 0.3,
  },
  {
    of: /^torch\.optim\.(?:\w+\.)*SGD$/,
    keyword: 'nesterov',
    usually: false,
    needs: /\bmomentum\s*=\s*(?:0?\.\d*[1-9]|[A-Za-z_])/,
    forbids: /\bdampening\b/,
    reason: 'momentum can look ahead (Nesterov 1983, Sutskever et al. 2013).',
    weight: 0.15,
  },
  {
    of: /^torch\.optim\.(?:\w+\.)*AdamW?$/,
    keyword: 'amsgrad',
    usually: false,
    reason: 'steps that never grow again converge where others need not (Reddi et al. 2018).',
    weight: 0.1,
  },
  {
    of: /^torch\.optim\.(?:\w+\.)*RMSprop$/,
    keyword: 'centered',
    usually: false,
    reason: 'gradients can be scaled by their variance, or by their size (Graves 2013).',
    weight: 0.1,
  },
  {
    of: /^sklearn\.gaussian_process\.GaussianProcessRegressor$/,
    keyword: 'normalize_y',
    usually: false,
    reason: 'a Gaussian process expects a target around nought with a variance of one.',
    weight: 0.35,
  },
  {
    of: /^sklearn\.feature_extraction\.text\.(?:Tfidf|Count)Vectorizer$/,
    keyword: 'binary',
    usually: false,
    reason: 'whether a word stands there may tell more than how often, or less.',
    weight: 0.2,
  },
  {
    of: /^sklearn\.feature_extraction\.text\.Tfidf(?:Vectorizer|Transformer)$/,
    keyword: 'sublinear_tf',
    usually: null,
    reason: 'a word that stands ten times may say little more than one that stands twice.',
    weight: 0.3,
  },
  {
    of: /^sklearn\.feature_extraction\.text\.(?:Tfidf|Count)Vectorizer$/,
    keyword: 'lowercase',
    usually: true,
    forbids: /\b(?:preprocessor|analyzer)\s*=/,
    reason: 'capitals tell names and shouting from other words, or only make words rarer.',
    weight: 0.12,
  },
  {
    of: /^sklearn\.feature_extraction\.text\.Tfidf(?:Vectorizer|Transformer)$/,
    keyword: 'use_idf',
    usually: null,
    reason: 'rare words may tell more than frequent ones, or less.',
    weight: 0.15,
  },
  {
    of: /^sklearn\.ensemble\.(?:RandomForest|ExtraTrees)(?:Classifier|Regressor)$/,
    keyword: 'bootstrap',
    usually: null,
    forbids: /\b(?:oob_score|max_samples)\s*=/,
    reason: 'trees that see all rows are better one by one, those that see samples differ more.',
    weight: 0.2,
  },
  {
    of: /^sklearn\.decomposition\.PCA$/,
    keyword: 'whiten',
    usually: false,
    reason: 'components of one size count alike, where distances are what a model goes by.',
    weight: 0.15,
  },
  {
    of: /^sklearn\.preprocessing\.PolynomialFeatures$/,
    keyword: 'interaction_only',
    usually: null,
    reason: 'squares of columns may help, or only make more columns.',
    weight: 0.15,
  },
  {
    of: linear,
    keyword: 'fit_intercept',
    usually: null,
    reason: 'a constant term is mostly needed, unless rows and target have a mean of nought.',
    weight: 0.2,
  },
];
