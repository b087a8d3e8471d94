import type { Direction } from '../competence.ts';
import { type NumberToken, type Token, tokensOf, type WordToken } from './words.ts';

/** Words for measured quantities, by which direction is better; the first of a group represents it. */
const metricGroups: Readonly<Record<Direction, readonly string[]>> = {
  maximize: [
    ...[
      'accuracy accuracies acc',
      'f1',
      'auc auroc',
      'r2',
      'precision',
      'recall',
      'bleu',
      'rouge',
      'score scores',
    ],
    ...['iou', 'dice', 'mcc', 'kappa', 'correlation', 'speedup', 'throughput', 'performance'],
  ],
  minimize: [
    ...[
      'loss losses',
      'mae',
      'mse',
      'rmse',
      'rmsle',
      'mape',
      'smape',
      'mcrmse',
      'error errors',
      'perplexity ppl',
    ],
    ...['wer', 'latency', 'time times runtime took taken'],
  ],
};
const metrics = new Map(
  (['maximize', 'minimize'] as const).flatMap((direction) =>
    metricGroups[direction].flatMap((group) => {
      const [name = '', ...others] = group.split(' ');
      return [name, ...others].map((word) => [word, { name, direction }] as const);
    }),
  ),
);

/** Words for changes for the better or the worse; they state a result only in the past tense, or as a noun. */
const changes = words(
  'improved improvement improvements reduced reduction decreased increased achieved reached gained gain dropped rose fell ' +
    'faster slower',
);

/** These often mean something other than a metric: their number must look like a measured one. */
const ambiguous = words('error errors score scores performance');
/** These often have small whole values. */
const unlimited = words('mae mse rmse perplexity ppl loss');
const times = words('time times runtime took taken latency');

/** Settings: a number that belongs to one of these is not a result. */
const settings = words(
  'lr rate dropout size sizes depth alpha beta gamma lambda weight weights decay momentum threshold patience degree width ' +
    'height kernel stride padding split random state seed seeds max min maximum minimum length factor warmup code limit k ' +
    'version python temperature tolerance percentile quantile',
);
/** Things that are counted or numbered: a whole number that belongs to one of these is not a result. */
const counted = words(
  'line lines step steps epoch epochs iteration iterations iter fold folds batch batches layer layers estimators trees ' +
    'units neurons nodes features feature samples rows row columns column classes class images image tokens parameters ' +
    'parameter params neighbors neighbours top figure table section item items number filters channels hidden dimension ' +
    'dimensions workers index level levels heads head clusters components task tasks file files run runs attempt attempts ' +
    'trial trials experiment option point points',
);

const subjects = new Map<string, 'train' | 'validation' | 'test'>([
  ...(['train', 'training', 'trn', 'fit'] as const).map((word) => [word, 'train'] as const),
  ...(['val', 'valid', 'validation', 'cv', 'oof', 'dev', 'holdout', 'eval', 'cross'] as const).map(
    (word) => [word, 'validation'] as const,
  ),
  ...(['test', 'testing', 'tst'] as const).map((word) => [word, 'test'] as const),
]);

/** Words and marks that connect a number with the noun before it. */
const links = words(
  'of to is was are were be been from by at as a an the about around approximately roughly only just now still and or vs ' +
    'versus with equals reached achieved dropped rose fell improved increased decreased reduced found currently',
);

/** A number that a text connects with a metric. */
export interface MetricNumber {
  number: NumberToken;
  /** The metric's name, the same for synonyms. A change without a metric: `change`. */
  metric: string;
  /** Null for a mere change. */
  direction: Direction | null;
  /** The data it was measured on, if the text says so just before the metric. */
  subject: 'train' | 'validation' | 'test' | null;
  /** Other words before the metric, such as the name of a model: they distinguish two readings of a metric. */
  label: string;
}

/** How far before a number its metric may be, in words and numbers. */
const farthest = 12;
const farthestLabel = 6;

/** The numbers of a sentence or line that it gives as values of a metric, or as changes for better or worse. */
export function metricNumbers(tokens: readonly Token[]): MetricNumber[] {
  const found: MetricNumber[] = [];
  // Most lines name no metric.
  if (!tokens.some((token) => token.kind === 'word' && isMetric(token))) return found;
  const free = withoutParameters(tokens);
  for (let index = 0; index < free.length; index += 1) {
    const token = free[index];
    if (token?.kind !== 'number') continue;
    const place = metricAfter(free, index) ?? metricBefore(free, index);
    if (place === null) continue;
    const word = free[place];
    if (word?.kind !== 'word' || !suits(token, word, free[index + 1])) continue;
    found.push({ number: token, ...metricOf(word), ...aboutOf(free, place) });
  }
  return found;
}

/** Removes the numbers that belong to no metric, with their names: `epoch 5`, `lr = 0.1`, `from 3 to 5 layers`. */
function withoutParameters(tokens: readonly Token[]): Token[] {
  const taken = new Set<number>();
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token?.kind !== 'number') continue;
    if (owns(tokens, index + 1, token)) {
      taken.add(index).add(index + 1);
      continue;
    }
    const noun = nounBefore(tokens, index);
    if (noun !== null && (taken.has(noun) || owns(tokens, noun, token))) taken.add(noun).add(index);
  }
  return taken.size === 0 ? [...tokens] : tokens.filter((_, index) => !taken.has(index));
}

/** Whether the word at a position, beside a number, shows that the number is not a result. */
function owns(tokens: readonly Token[], place: number, { whole, suffix }: NumberToken): boolean {
  const word = tokens[place];
  if (word?.kind !== 'word') return false;
  return isSetting(tokens, place) || (whole && suffix === null && counted.has(word.parts.at(-1) ?? ''));
}

/** The position of the number or noun before a number, skipping links and marks; null if there is none. */
function nounBefore(tokens: readonly Token[], index: number): number | null {
  for (let place = index - 1; place >= 0; place -= 1) {
    const token = tokens[place];
    if (token === undefined || (token.kind === 'mark' && token.text === ';')) return null;
    if (token.kind === 'mark' || (token.kind === 'word' && links.has(token.text))) continue;
    return place;
  }
  return null;
}

/** The nearest metric; "accuracy improved to 0.85" is about the accuracy. */
function metricBefore(tokens: readonly Token[], index: number): number | null {
  let change: number | null = null;
  const link = tokens[index - 1];
  const isListed = link !== undefined && link.kind !== 'number' && /^(?:and|or|,)$/.test(link.text);
  for (let place = index - 1; place >= Math.max(0, index - farthest); place -= 1) {
    const token = tokens[place];
    if (token?.kind === 'word' && isMetric(token)) {
      if (!changes.has(token.text)) return place;
      change ??= place;
    }
    // A number in between takes the metric, unless both are listed.
    if (token?.kind === 'number' && !isListed && nounBefore(tokens, index) !== place) return change;
    if (isSetting(tokens, place) || (token?.kind === 'mark' && token.text === ';')) return change;
  }
  return change;
}

/** `0.85 validation accuracy`, unless something before the number claims it: `loss: 0.3 accuracy: 0.9`. */
function metricAfter(tokens: readonly Token[], index: number): number | null {
  const before = tokens[index - 1];
  if (before?.kind === 'mark' && /[:=]/.test(before.text)) return null;
  for (let place = index + 1; place <= index + 3; place += 1) {
    const token = tokens[place];
    if (token?.kind !== 'word' || links.has(token.text)) return null;
    if (isMetric(token)) return place;
  }
  return null;
}

/** Whether a number can be a value of the metric that the word names. */
function suits(number: NumberToken, word: WordToken, next: Token | undefined): boolean {
  const name = metricWord(word) ?? '';
  if (number.suffix === 'time') return times.has(name) || changes.has(name) || name === 'performance';
  if (!number.whole || number.suffix !== null) return true;
  // The rest are whole numbers, which may count or number anything.
  if (times.has(name) || changes.has(name)) return false;
  if (next?.kind === 'word' && /[a-z]s$/.test(next.text) && !closing.has(next.text)) return false;
  return Math.abs(number.value) >= (ambiguous.has(name) ? 1000 : unlimited.has(name) ? 1 : 11);
}

/** Words after a value that end in s without being counted by it. */
const closing = words('is was as has its this versus vs which thus plus shows means indicates suggests');

/** The metrics that a text names, by their names in `MetricNumber`. */
export function metricsNamedIn(text: string): Set<string> {
  const names = tokensOf(text).flatMap((token) =>
    token.kind === 'word' ? token.parts.flatMap((part) => metrics.get(part)?.name ?? []) : [],
  );
  return new Set(names);
}

/** Whether a word names a metric or a change for better or worse. */
export function isMetric(word: WordToken): boolean {
  return metricWord(word) !== null;
}

function isSetting(tokens: readonly Token[], place: number): boolean {
  const word = tokens[place];
  if (word?.kind !== 'word' || isMetric(word)) return false;
  const before = tokens[place - 1];
  // The error rate is a metric.
  if (word.text === 'rate' && before?.kind === 'word' && isMetric(before)) return false;
  return settings.has(word.parts.at(-1) ?? '') || word.text.includes('_');
}

function metricWord({ text, parts }: WordToken): string | null {
  if (changes.has(text)) return text;
  for (let place = parts.length - 1; place >= 0; place -= 1) {
    const part = parts[place];
    if (part !== undefined && metrics.has(part)) return part;
  }
  return null;
}

function metricOf(word: WordToken): Pick<MetricNumber, 'metric' | 'direction'> {
  const found = metrics.get(metricWord(word) ?? '');
  return found === undefined
    ? { metric: 'change', direction: null }
    : { metric: found.name, direction: found.direction };
}

/** The words before a metric, up to a number or a mark. */
function aboutOf(tokens: readonly Token[], place: number): Pick<MetricNumber, 'subject' | 'label'> {
  const label: string[] = [];
  let subject: MetricNumber['subject'] = null;
  for (let at = place; at >= Math.max(0, place - farthestLabel); at -= 1) {
    const token = tokens[at];
    if (token?.kind !== 'word') break;
    subject ??= subjectOf(token);
    label.push(token.text);
  }
  return { subject, label: label.reverse().join(' ') };
}

function subjectOf({ parts }: WordToken): MetricNumber['subject'] {
  const part = parts.find((each) => subjects.has(each));
  return subjects.get(part ?? '') ?? null;
}

function words(text: string): Set<string> {
  return new Set(text.split(' '));
}
