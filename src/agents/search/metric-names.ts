import type { Metric } from '../../schema/index.ts';

/** Spellings of the same metric, in lower case. */
const synonyms = `
mae, mean absolute error
mse, mean squared error
rmse, root mean squared error, root mean square error
rmspe, root mean squared percentage error
rmsle, root mean squared logarithmic error, root mean squared log error
mape, mean absolute percentage error
smape, symmetric mean absolute percentage error
wape, wmape, weighted absolute percentage error, weighted mean absolute percentage error
mcrmse, mean columnwise root mean squared error, mean columnwise rmse, mean column wise rmse
accuracy, acc
balanced accuracy, balanced acc, macro recall, recall macro, mean recall, average recall, mean per class accuracy
auc, roc auc, auroc, auc roc, macro auc, area under the curve, area under the roc curve
f1, f1 score
macro f1, macro f1 score, macro averaged f1, f1 macro, f1 score macro
weighted f1, weighted f1 score, weighted averaged f1, f1 weighted, f1 score weighted
samples f1, samples f1 score, f1 samples, sample f1, f1 per sample, f1 per row, row f1
micro f1, micro f1 score, micro averaged f1, f1 micro, f1 score micro
balanced error, balanced error rate, ber
error rate, misclassification rate, classification error, zero one loss, hamming loss
r2, r2 score, r squared, coefficient of determination
msle, mean squared logarithmic error, mean squared log error
median absolute error, medae
pinball, pinball loss, quantile loss, mean pinball loss, mean quantile loss
pearson, pearson correlation, pearson r, pearsonr, pearson correlation coefficient, correlation
spearman, spearman correlation, spearman rank correlation, spearman r, spearmanr, spearman rho, rho, rank correlation
log loss, logloss, logarithmic loss, cross entropy, bce, negative log likelihood, nll
perplexity, ppl
dice, dice score, dice coefficient
iou, jaccard, intersection over union
map, mean average precision, macro average precision, average precision macro, macro ap
average precision, ap, auprc, pr auc, auc pr, average precision score
brier, brier score, brier loss, brier score loss
gini, gini coefficient, normalized gini, normalised gini
kappa, cohen kappa, kappa score
quadratic weighted kappa, qwk, weighted kappa, quadratic kappa, quadratically weighted kappa
matthews correlation, matthews correlation coefficient, matthews corrcoef, mcc
concordance index, c index, cindex, concordance, harrell c index
snr, signal to noise ratio, signal noise ratio
psnr, peak signal to noise ratio
ssim, structural similarity, structural similarity index
mrr, mean reciprocal rank
ndcg, normalized discounted cumulative gain, normalised discounted cumulative gain
return, reward, mean return, mean reward, average return, average reward, episode return
bits per character, bits per char, bpc
seconds, time, run time, wall time, elapsed, elapsed time, duration, seconds per token`
  .trim()
  .split('\n')
  .map((line): readonly string[] => line.split(', '));
const times = synonyms.at(-1) ?? [];

/** All spellings of the metric that output may use, the longest first. */
export function spellingsOf(metric: Metric): string[] {
  const name = plain(metric.name);
  // "MAP@20" may be printed without its 20.
  const short = /^[a-z]{3,}(?= \d+$)/.exec(name)?.[0] ?? '';
  const group = synonymsOf(metric.name) ?? [];
  const time = isTimeLike(metric) && metric.direction === 'minimize' ? times : [];
  // Two letters often mean something else.
  const initials = name.split(' ').map((word) => word[0] ?? '');
  const acronym = initials.length > 2 ? initials.join('') : '';
  const spellings = new Set([name, short, acronym, ...group, ...time].filter((spelling) => spelling !== ''));
  return [...spellings].sort((left, right) => right.length - left.length);
}

/** Spellings of other metrics that contain one of these: `balanced accuracy` for `accuracy`. */
export function longerSpellings(spellings: readonly string[]): string[] {
  return synonyms
    .filter((group) => !group.some((each) => spellings.includes(each)))
    .flat()
    .filter((longer) => spellings.some((each) => ` ${longer} `.includes(` ${each} `)))
    .sort((left, right) => right.length - left.length);
}

/**
 * Short names that a script may use for the metric, the most specific first: `relative error` and `error` for "capped
 * relative error", `accuracy` for "accuracy of pointers", `pinball` for "pinball loss", and finally the word that
 * stands for any metric.
 */
export function shortNamesOf(metric: Metric): string[] {
  const words = (synonymsOf(metric.name)?.[0] ?? plain(metric.name)).split(' ');
  const of = words.findIndex((word) => /^(?:of|at|per|over|on|for|in)$/.test(word));
  const head = of > 0 ? words.slice(0, of) : words;
  const shorter = head.map((_, place) => head.slice(place).join(' '));
  const isGeneral = /^(?:accuracy|coefficient|distance|error|index|loss|metric|rate|score)$/.test(
    head.at(-1) ?? '',
  );
  if (isGeneral) shorter.push(head.slice(0, -1).join(' '));
  const any = metric.direction === 'maximize' ? 'score' : 'error';
  const known = new Set(spellingsOf(metric));
  return [...new Set([...shorter, any])].filter((name) => /[a-z]\w/.test(name) && !known.has(name));
}

/** Whether a short name is the first of two words, and no word for errors of any kind: `pinball` of "pinball loss". */
export function isOwnWord(name: string, metric: Metric): boolean {
  const [first, ...others] = plain(metric.name).split(' ');
  return name === first && others.length === 1 && !ordinary.test(name);
}

const ordinary =
  /^(?:absolute|accuracy|average|capped|error|loss|mean|median|normali[sz]ed|relative|root|score|squared|total|weighted)$/;

const known = [
  ...'f1, auc, balanced accuracy, accuracy, r2, spearman, pearson'
    .split(', ')
    .map((name) => ({ name, unit: '', direction: 'maximize' as const })),
  ...'rmse, mae, mape, smape, rmsle, mse, log loss, error rate, error, loss'
    .split(', ')
    .map((name) => ({ name, unit: '', direction: 'minimize' as const })),
];

/** Other metrics of validation data that a script may print instead, the most informative first. */
export function otherMetricsFor({ direction }: Metric): Metric[] {
  const rank = (each: Metric) => (each.name === 'loss' ? 2 : Number(each.direction !== direction));
  return known.toSorted((left, right) => rank(left) - rank(right));
}

/** Of a metric of ranked lists, their length: 10 for "NDCG@10"; null for other metrics. */
export function lengthOfLists({ name }: Metric): number | null {
  const length = /@\s*(\d+)$/.exec(name)?.[1];
  return length === undefined ? null : Number(length);
}

/** Whether the metric cannot exceed 1, so that a larger number is a percentage. */
export function isShare(metric: Metric): boolean {
  return (
    metric.direction === 'maximize' &&
    (/\b(?:fraction|share|proportion)\b/i.test(metric.unit) ||
      /(?:^|\b)(?:accuracy|f[\d.]+|auc|iou|dice|kappa|precision|recall|r2|average precision|map|ndcg|mrr)$/.test(
        usualName(metric),
      ))
  );
}

/** Whether the task states the metric in percent: its name counts only if its unit says nothing. */
export function isPercentage({ name, unit }: Metric): boolean {
  return /%|\bper ?cent|\bpercent/i.test(/[\w%]/.test(unit) ? unit : name);
}

/**
 * Whether the metric is the run time of a script, or a rate: what the script prints about it is only its own measurement.
 * An error in seconds is none.
 */
export function isTimeLike({ name, unit, direction }: Metric): boolean {
  const group = synonymsOf(name);
  if ((group !== undefined && group !== times) || /error|loss|deviation/i.test(name)) return false;
  if (direction === 'maximize')
    return /throughput|speed|(?:\bper |\/ ?)s(?:ec(?:ond)?)?\b/i.test(`${name} ${unit}`);
  return (
    /^(?:(?:[mnuµ]|milli|micro|nano)?(?:s|secs?|seconds?)|min(?:ute)?s?|hours?)(?!\w)/i.test(unit) ||
    /(?:\b|run|wall)time\b|\b(?:duration|elapsed|latency)\b/i.test(name)
  );
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replace(/['’]s\b/g, '')
    .replace(/r(?:\^2|\*\*2|²)/g, 'r2')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}

/** The first of all spellings of the metric: `mae` for "Mean absolute error". */
export function usualName({ name }: Metric): string {
  return (synonymsOf(name) ?? synonymsOf(withoutEnd(name, /\sof\s.*/)))?.[0] ?? plain(name);
}

/** F2, F0.5 and the like, whose output may also be called `fbeta`; null for other metrics. */
function fScores(name: string): string[] | null {
  const pattern = /^((?:macro |weighted )?)f[-_ ]?(\d(?:\.\d+)?)(?:[-_ ]score)?(?: \(?(?:of|for) .*)?$/;
  const [, mean = '', beta = '1'] = pattern.exec(name.toLowerCase().trim()) ?? [];
  if (Number(beta) === 1) return null;
  const printed = plain(`f${Number(beta)}`);
  const names = [printed, printed.replace('f', 'f '), 'fbeta', 'f beta'].flatMap((each) => [
    each,
    `${each} score`,
  ]);
  return [`${mean}f${Number(beta)}`, ...names.map((each) => mean + each)];
}

/** All spellings of the metric, also if words stand in another order, or beside it: "F1 score (macro)", "MAE (days)". */
function synonymsOf(name: string): readonly string[] | undefined {
  const ofBeta = fScores(name);
  if (ofBeta !== null) return ofBeta;
  const full = plain(name);
  const head = withoutEnd(name, /\(.*\)/);
  const shorter = [head, withoutEnd(head, /\s(?:in|over)\s.*/)].map(plain);
  const candidates = [full, ...shorter].flatMap((each) => [each, each.replace(/\b(?:mean|average)\b/g, '')]);
  return (
    synonyms.find((spellings) => spellings.includes(full)) ??
    candidates
      .map(essence)
      .filter((each) => each !== '')
      .map((each) => synonyms.find((spellings) => spellings.some((spelling) => essence(spelling) === each)))
      .find((each) => each !== undefined)
  );
}

/** Without a part that only names the unit or what is predicted: logarithms and parts of the data are another metric. */
function withoutEnd(name: string, part: RegExp): string {
  return name.replace(part, (end) => (/\b(?:log|ln|class|worst|best)|scale|transform/i.test(end) ? end : ''));
}

const empty =
  /^(?:averaged|binary|class|classification|coefficient|cohens?|loss|multi|multiclass|score|validation|value)$/;

/** The words that tell metrics apart, in alphabetical order. */
function essence(spelling: string): string {
  const essential = spelling.split(' ').filter((word) => !empty.test(word));
  return essential.toSorted().join(' ').trim();
}
