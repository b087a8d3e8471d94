/**
 * How a number is changed.
 * - `log`: by factors (learning rates, regularisation)
 * - `fraction`: on the logit scale, inside (0, 1)
 * - `count`: by factors, whole
 * - `small`: by fractions of its value, at least by one, whole
 */
export type Scale = 'log' | 'fraction' | 'count' | 'small';

/** What the name of a number says about it, before anything is run. */
export interface Prior {
  scale: Scale;
  /** How likely a change is to help, 0 to 1. */
  weight: number;
  least: number;
  most: number;
  /** The run time grows with this power of the value. */
  effort: number;
  /** More is usually better, at a cost: tried upwards first. */
  upFirst: boolean;
  /** The first value to try if the starter has a 0. */
  fromZero: number | null;
  /** How long a model trains: with less of it, a run is a cheaper one of the same kind. */
  isLength: boolean;
}

function prior(scale: Scale, weight: number, rest: Partial<Prior> = {}): Prior {
  const bounds = {
    log: { least: 1e-9, most: 1e6 },
    fraction: { least: 0.001, most: 0.9999 },
    count: { least: 1, most: 1e6 },
    small: { least: 1, most: 64 },
  }[scale];
  return { scale, weight, ...bounds, effort: 0, upFirst: false, fromZero: null, isLength: false, ...rest };
}

const learningRate = prior('log', 1, { least: 1e-7, most: 10 });
/** In short training, a learning rate up to this is more often too low than too high. */
const slowRate = 0.005;
const penalty = prior('log', 0.8, { fromZero: 1e-4 });
const rounds = prior('count', 0.7, { effort: 1, upFirst: true, isLength: true });
const width = prior('count', 0.6, { least: 2, most: 8192, effort: 1, upFirst: true });
const share = prior('fraction', 0.5);

/** Names as whole patterns over words joined by `_`; the first match counts. Numbers of other names are not changed. */
const named: readonly (readonly [RegExp, Prior])[] = [
  [/(?:^|_)(?:lr|eta|lrate|learning_rate|learn_rate|step_size|max_lr)(?:_init|_0|0)?$/, learningRate],
  [/^(?:wd|l1|l2|alpha(?:_\d)?|reg_alpha|reg_lambda|lambda(?:_?l?[12])?|lam|c|ccp_alpha)$/, penalty],
  [
    /(?:^|_)(?:regularization|reg|ridge|penalty|l1_reg|l2_reg|l2_regularization|weight_decay)(?:_strength)?$/,
    penalty,
  ],
  [
    /(?:^|_)(?:gamma|sigma|bandwidth|length_scale|temperature|tau|noise_level|min_child_weight|pseudocounts?|prior|damping)$/,
    prior('log', 0.5),
  ],
  [/^(?:tol|eps|epsilon|var_smoothing|min_impurity_decrease)$/, prior('log', 0.1, { fromZero: 1e-4 })],
  [
    /(?:^|_)(?:dropout|drop|drop_rate|dropout_rate|dropout_p|drop_prob)$/,
    prior('fraction', 0.7, { most: 0.9, fromZero: 0.1 }),
  ],
  [/^(?:subsample|bagging_fraction|feature_fraction|max_features|max_samples|colsample_by\w+)$/, share],
  [/^(?:momentum|l1_ratio|lr_decay|decay_rate|shrinkage|smoothing|threshold|cutoff|beta_?[12]|rho)$/, share],
  [/^(?:label_smoothing|mixup|mixup_alpha)$/, prior('fraction', 0.4, { most: 0.6, fromZero: 0.05 })],
  // Evolutionary algorithms, annealing, reinforcement learning.
  [
    /(?:^|_)(?:population|population_size|pop_size|particles|restarts|n_init|episodes|rollouts)$/,
    prior('count', 0.5, { effort: 1, upFirst: true }),
  ],
  [
    /(?:^|_)(?:(?:mutation|crossover)_(?:rate|prob)|elite(?:_share|_fraction)?|discount(?:_factor)?|gae_lambda)$/,
    share,
  ],
  [/(?:^|_)cooling(?:_(?:rate|factor))?$/, prior('fraction', 0.5, { most: 0.999999 })],
  [
    /(?:^|_)(?:n_estimators|estimators|num_boost_round|num_round|n_rounds|rounds|num_trees|n_trees|trees|stages)$/,
    rounds,
  ],
  [/(?:^|_)(?:epochs?|epoch_count|generations|max_iter|n_iter|num_iter|iterations|iters)$/, rounds],
  [
    /^(?:(?:max|most|num|n|total|train|training|optimizer|gradient)_)?(?:steps|updates)$|^times_longer$/,
    rounds,
  ],
  [/^(?:train_)?batch(?:_size)?$/, prior('count', 0.6, { most: 16_384, effort: -0.7 })],
  [/(?:^|_)(?:neighbors|nearest|k)$/, prior('count', 0.8, { most: 1000 })],
  [
    /^(?:min_samples_leaf|min_samples_split|min_child_samples|min_data_in_leaf|min_leaf|leaf_size|max_leaf_nodes|max_leaves|num_leaves|leaves|max_bins?|bins)$/,
    prior('count', 0.5, { most: 10_000 }),
  ],
  [/(?:^|_)(?:depth|n_layers?|num_layers?|layers|n_blocks|blocks)$/, prior('small', 0.8, { effort: 1 })],
  [/(?:^|_)(?:degree|order)$/, prior('small', 0.5, { most: 8, effort: 2 })],
  [/(?:^|_)hidden(?:_(?:sizes?|dims?|units|width|nodes|features|channels|layer_sizes))?$/, width],
  [/^(?:(?:n|num)_(?:hidden|units|components|knots|bins|clusters)|components|clusters|units|width)$/, width],
  [/^(?:d_model|emb(?:ed(?:ding)?)?_(?:dim|size)|base_(?:channels|width))$/, width],
  [
    /^(?:max_vocab(?:_size)?|max_features|max_words|(?:n|num)_(?:bands|mels|mfcc|harmonics|basis|centers|filters|lags))$/,
    width,
  ],
  [
    /^(?:window|window_size|lags|lookback|(?:recent_|past_)?(?:days|weeks))$/,
    prior('count', 0.4, { most: 10_000 }),
  ],
  [/(?:^|_)(?:weight|boost|bonus|power|exponent|half_life)$/, prior('log', 0.4)],
  [/(?:^|_)(?:max_grad_norm|grad_clip|clip_norm|gradient_clip)$/, prior('log', 0.3)],
  [/(?:^|_)(?:chunk|block|tile|buffer)(?:_?(?:size|rows|length))?$/, prior('count', 0.3)],
];

const ofEvaluation =
  /(?:^|_)(?:evaluat(?:e|ion|or)|eval|scores?|scoring|scorer|metrics?|error|accuracy|auc|mae|mse|rmse|smape|log_loss|baseline|tests?|val|valid|validate|validation|cv|folds?|splits?|holdout|train_size|seed|random_state)(?:_|$)/;

/** Whether a name alone says what a number is. */
export function isKnownName(name: string): boolean {
  const plain = plainName(name);
  return named.some(([pattern]) => pattern.test(plain));
}

/** Whether a function or an argument of this name decides how, or with which data or luck, a version is measured. */
export function isEvaluationName(name: string): boolean {
  return ofEvaluation.test(plainName(name));
}

/** The names of the first arguments of well-known calls. */
const positional: readonly (readonly [RegExp, readonly (string | null)[]])[] = [
  [/^(?:Ridge|Lasso|ElasticNet)$/, ['alpha']],
  [/^KNeighbors(?:Classifier|Regressor)$/, ['n_neighbors']],
  [/^(?:RandomForest|ExtraTrees)(?:Classifier|Regressor)$/, ['n_estimators']],
  [/^(?:PCA|TruncatedSVD)$/, ['n_components']],
  [/^PolynomialFeatures$/, ['degree']],
  [/^Dropout[12]?d?$/, ['dropout']],
  [/^(?:SGD|Adam|AdamW|RMSprop)$/, [null, 'lr']],
];

/** The name of a call's argument at a position from 0, if the call is known. */
export function positionalName(callee: string, position: number): string | null {
  return positional.find(([pattern]) => pattern.test(callee))?.[1][position] ?? null;
}

/** `learningRate`, `LEARNING-RATE` and `learning_rate` are one name. */
export function plainName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('neighbour', 'neighbor')
    .replaceAll('regularis', 'regulariz')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
}

/**
 * What is known about a number; null if a tuner must not change it.
 * @param callee the call that it is an argument of; empty if there is none
 * @param isWhole it is written without a decimal point or exponent
 */
export function priorFor(name: string, callee: string, value: number, isWhole: boolean): Prior | null {
  const wanted = plainName(name);
  if (/(?:LR|Scheduler)$/.test(callee)) return isWhole ? null : prior('fraction', 0.2);
  // The name `max_features` is a share for trees, and a number of words for texts.
  const known = named.find(([pattern, each]) => pattern.test(wanted) && fits(each, value, isWhole))?.[1];
  if (known === learningRate && value > 0 && value <= slowRate) return { ...known, upFirst: true };
  return known ?? null;
}

/** Whether a value can be changed on its scale; a "dropout" of 20 must be something else. */
function fits(known: Prior, value: number, isWhole: boolean): boolean {
  if (value === 0) return known.fromZero !== null;
  if (known.scale === 'fraction') return value > 0 && value <= 1;
  if (known.scale === 'log') return value > 0;
  return isWhole && value >= known.least;
}
