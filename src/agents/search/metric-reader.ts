import type { Metric } from '../../schema/index.ts';
import {
  isOwnWord,
  isPercentage,
  isShare,
  isTimeLike,
  lengthOfLists,
  longerSpellings,
  otherMetricsFor,
  shortNamesOf,
  spellingsOf,
} from './metric-names.ts';
import { TableRows } from './metric-table.ts';

/** A value of the task's metric that a script printed. */
export interface MetricReading {
  /** In the metric's own unit: 0.95 for "95 %" of a share. */
  value: number;
  /** The line that contains it, for people. */
  line: string;
  /** Whether the line says that it was measured on held-out validation data. */
  validation: boolean;
  /**
   * Its label is only a part of the metric's name: good for comparing a script with itself, less so with another
   * script.
   */
  short: boolean;
  /** The value of another metric, because the task's is not printed; its sign is flipped if the directions differ. */
  other: boolean;
}

type Subject = 'train' | 'validation' | null;
type Token =
  | { kind: 'metric'; altered: boolean }
  | { kind: 'subject'; subject: 'train' | 'validation'; glued: boolean }
  | { kind: 'other metric' }
  | { kind: 'word' }
  | { kind: 'separator' }
  | { kind: 'number'; value: number; whole: boolean; percent: boolean };

interface Found {
  value: number;
  percent: boolean;
  subject: Subject;
  /** Of a metric whose name contains the task's. */
  altered: boolean;
}

const subjects: Readonly<Record<string, 'train' | 'validation'>> = {
  train: 'train',
  training: 'train',
  trn: 'train',
  fit: 'train',
  val: 'validation',
  valid: 'validation',
  validation: 'validation',
  validate: 'validation',
  cv: 'validation',
  crossval: 'validation',
  oof: 'validation',
  dev: 'validation',
  holdout: 'validation',
  heldout: 'validation',
  eval: 'validation',
};
/** Longer lines are dumps of data, not reports. The limit also bounds the work on hostile output. */
const longestLine = 2000;

const otherMetrics = new Set(
  (
    'loss mae mse rmse rmsle mape smape mcrmse acc accuracy auc f1 r2 precision recall time seconds sec epoch step ' +
    'iter iteration lr fold batch seed error score std dice iou map perplexity ppl logloss kappa mcc correlation'
  ).split(' '),
);

/**
 * The last value of the metric in the output of a script, preferably one on validation data; null if none was printed.
 * Lines about a test are not read: test data is not for choosing. If the metric is not printed by its name, the last
 * words of the name count, on validation data, or its first word if that names nothing else; then any other metric whose
 * direction is known.
 */
export function readMetric(output: string, metric: Metric): MetricReading | null {
  const isTime = isTimeLike(metric);
  const timeUnit = isTime && metric.direction === 'minimize' ? secondsIn(metric.unit) : null;
  const named = readAs(output, metric, spellingsOf(metric), timeUnit);
  if (named !== null) return named;
  for (const name of shortNamesOf(metric)) {
    const reading = readAs(output, metric, [name], null);
    if (reading !== null && (reading.validation || isOwnWord(name, metric)))
      return { ...reading, short: true };
  }
  for (const { name, direction } of isTime ? [] : otherMetricsFor(metric)) {
    const usual = { name, unit: '', direction };
    const reading = readAs(output, usual, spellingsOf(usual), null);
    const sign = direction === metric.direction ? 1 : -1;
    if (reading?.validation === true) return { ...reading, value: sign * reading.value, other: true };
  }
  return null;
}

function readAs(
  output: string,
  metric: Metric,
  spellings: readonly string[],
  timeUnit: number | null,
): MetricReading | null {
  const readings: (MetricReading & { rank: number })[] = [];
  let heading: Subject | 'test' = null;
  let pending = '';
  let ofLinesBelow = '';
  const names = { ours: patternOf(spellings), longer: patternOf(longerSpellings(spellings)), timeUnit };
  const table = new TableRows(
    (name) => anyName.test(withShortNames(name, { ...names, timeUnit: null })) && !saysTest(name),
    lengthOfLists(metric),
  );
  for (const line of linesOf(output)) {
    const head = headingOf(line);
    if (head !== undefined) heading = head;
    if (line.trim() === '') heading = null;
    const isValueOfLineBefore = pending !== '' && /^\s*\S+\s*$/.test(line);
    if (!/^\s/.test(line)) ofLinesBelow = isNameAlone(line, names) ? line.trim() : '';
    const row = isValueOfLineBefore ? `${pending} ${line}` : (table.rowAsLine(line) ?? line);
    const isPart = ofLinesBelow !== '' && subjects[words(row)[0] ?? ''] !== undefined;
    const text = isPart ? `${ofLinesBelow} ${row.trim()}` : row;
    pending = /[:=]\s*$/.test(line) ? line : '';
    if (saysTest(text)) continue;
    const rankOfLine = timeUnit === null ? -Number(ofDummy.test(text)) : rankOfTime(text, metric);
    for (const found of readLine(text, names)) {
      const subject = found.subject ?? heading;
      if (subject === 'train' || subject === 'test') continue;
      const validation = subject === 'validation';
      const value = inUnitOf(metric, found);
      const rank = rankOfLine - Number(found.altered);
      readings.push({ value, line: text.trim(), validation, short: found.altered, other: false, rank });
    }
  }
  const best = Math.max(...readings.map(({ rank }) => rank));
  const last = readings.filter(({ rank }) => rank === best);
  const reading = last.findLast(({ validation }) => validation) ?? last.at(-1);
  if (reading === undefined) return null;
  const { rank: _, ...told } = reading;
  return told;
}

/** Whether the values of the metric stand below its name: "mae:", then "  train: 2.0" and "  val: 3.2". */
function isNameAlone(line: string, names: Names): boolean {
  return withShortNames(line, { ...names, timeUnit: null }).replace(/[^a-z]/gi, '') === ourName;
}

/** A value of such a line counts only if there is no other. */
const ofDummy = /\b(?:dummy|majority|naive(?![ -_]bayes)|predicting)\b/i;

/** Times of the work itself count more: "median of 5 calls: 3 ms" for the time of one call, not "saved in 2 s". */
function rankOfTime(line: string, { name }: Metric): number {
  const said = new Set(words(line).map((word) => word.replace(/s$/, '')));
  if (words(name).some((word) => word.length > 2 && said.has(word.replace(/s$/, '')))) return 1;
  return ['wrote', 'saved', 'loaded', 'warm', 'warmup'].some((word) => said.has(word)) ? -1 : 0;
}

/** Scripts print shares in different ways: 0.953, 95.3 %, or 95.3 without a sign. */
function inUnitOf(metric: Metric, { value, percent }: Found): number {
  if (isPercentage(metric)) return value;
  const isHundredfold = percent || (isShare(metric) && value > 1 && value <= 100);
  return isHundredfold ? Number((value / 100).toPrecision(12)) : value;
}

/** The lines of a script's output, without the last one, which the environment adds, such as `[exit code 0, 3.2 s]`. */
function linesOf(output: string): string[] {
  const lines = output.trimEnd().split(/\r\n|\n|\r/);
  if (lines.at(-1)?.startsWith('[exit code')) lines.pop();
  return lines.filter((line) => line.length <= longestLine);
}

function words(text: string): string[] {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

function saysTest(line: string): boolean {
  return words(line).some((word) => word === 'test' || word === 'testing' || word === 'tst');
}

/** The subject of the lines below a heading such as `Validation:` or `=== train ===`; undefined for other lines. */
function headingOf(line: string): Subject | 'test' | undefined {
  const isHeading = /^\s*(?:[=#*-]{2}.*|#.*|[^\d:]+:|"?\w+"?:\s*\{|\[[^\]]*\])\s*$/.test(line);
  if (!isHeading || words(line).length > 4 || /\d/.test(line)) return undefined;
  if (saysTest(line)) return 'test';
  return (
    words(line)
      .map((word) => subjects[word])
      .find((subject) => subject !== undefined) ?? null
  );
}

/** Every value of the metric in a line, with the data that it was measured on. */
function readLine(line: string, names: Names): Found[] {
  const tokens = tokensOf(line, names);
  const found: Found[] = [];
  let armed = false;
  let isAgain = false;
  let altered = false;
  let separated = false;
  let current: Subject = null;
  let glued: Subject = null;
  // "MAE: 3.1 (train), 44.1 (validation, n = 60)": once what was measured stands after a value, it does so always.
  let trails = false;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'metric') {
      armed = true;
      altered = token.altered;
      separated = false;
      trails = false;
    } else if (token.kind === 'other metric') {
      armed = false;
      glued = null;
    } else if (token.kind === 'separator') {
      separated = true;
    } else if (token.kind === 'subject') {
      if (token.glued) glued = token.subject;
      else if (!trails) current = token.subject;
      // "MAE: train 3.1, valid 4.2" names the metric once for several numbers.
      if (found.length > 0 && !token.glued && metricStandsBefore(tokens, index)) armed = isAgain = true;
    } else if (token.kind === 'word' && isAgain && tokens[index + 1]?.kind === 'separator') {
      // "mae=3.2 | split=valid | rows=300" does not.
      armed = isAgain = false;
    } else if (token.kind === 'number' && armed) {
      if (!separated && token.whole && valueFollows(tokens, index)) continue;
      const trailing = trailingSubject(tokens, index);
      if (trails && trailing === null) continue;
      trails ||= glued === null && current === null && trailing !== null;
      const subject = glued ?? current ?? trailing;
      found.push({ value: token.value, percent: token.percent, subject, altered });
      armed = false;
      glued = null;
    }
  }
  const [only] = found;
  if (only === undefined) return valueBeforeName(tokens);
  return found.length > 1 ? found : [{ ...only, subject: only.subject ?? statedSubject(tokens) }];
}

/** Whether the last metric named before a token is the task's. */
function metricStandsBefore(tokens: readonly Token[], index: number): boolean {
  const named = tokens.slice(0, index).findLast(({ kind }) => kind === 'metric' || kind === 'other metric');
  return named?.kind === 'metric';
}

/** Whether a number is only a detail before the value, as 5 is in "MAE over 5 folds: 44.1". */
function valueFollows(tokens: readonly Token[], index: number): boolean {
  const rest = tokens.slice(index + 1);
  const end = rest.findIndex(({ kind }) => kind === 'metric' || kind === 'number');
  return rest[end]?.kind === 'number' && rest[end - 1]?.kind === 'separator' && rest[0]?.kind !== 'separator';
}

/** "MAE: 44.1 (validation)". */
function trailingSubject(tokens: readonly Token[], index: number): Subject {
  const next = tokens[index + 1];
  return next?.kind === 'subject' && !next.glued ? next.subject : null;
}

/** "MAE: 44.1 | split: validation". */
function statedSubject(tokens: readonly Token[]): Subject {
  const stated = tokens.find(
    (token, index) =>
      token.kind === 'subject' &&
      tokens[index - 1]?.kind === 'separator' &&
      tokens[index - 2]?.kind === 'word',
  );
  return stated?.kind === 'subject' ? stated.subject : null;
}

/** "95.3 % validation accuracy": read only if no number follows the name. */
function valueBeforeName(tokens: readonly Token[]): Found[] {
  const name = tokens.findIndex(({ kind }) => kind === 'metric');
  const named = tokens[name];
  const altered = named?.kind === 'metric' && named.altered;
  for (let index = name - 1; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token?.kind === 'number') {
      const near = tokens.slice(index + 1).find(({ kind }) => kind === 'subject');
      const subject = near?.kind === 'subject' ? near.subject : null;
      return [{ value: token.value, percent: token.percent, subject, altered }];
    }
    if (token?.kind !== 'subject') break;
  }
  return [];
}

/** A unit may follow a number directly: 27.1dB, 310ms; but 5fold is a word, and 1.2.3 a version. */
const tokenPattern =
  /(?<number>(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?:(?!\w|\.\d)|(?<=\.\d{1,40})(?=[A-Za-z])|(?=(?:[mun]?s|secs?|seconds|db|km)\b)))|(?<odd>(?<!\w)[-+]?(?:nan|inf|infinity)(?!\w))|(?<word>[A-Za-z_][\w.²-]*|\d[\w.]*)|(?<separator>[:=|→])/gi;

function tokensOf(line: string, names: Names): Token[] {
  const tokens: Token[] = [];
  for (const match of withoutAsides(withoutOthers(withShortNames(line, names))).matchAll(tokenPattern)) {
    const { number, odd, word } = match.groups ?? {};
    if (number !== undefined) {
      const percent = /^\s?(?:%|per ?cent\b)/i.test(match.input.slice(match.index + number.length));
      const value = Number(number.replaceAll(',', ''));
      tokens.push({ kind: 'number', value, whole: /^\d+$/.test(number), percent });
    } else if (odd !== undefined) {
      const size = /nan/i.test(odd) ? Number.NaN : Number.POSITIVE_INFINITY;
      tokens.push({
        kind: 'number',
        value: odd.startsWith('-') ? -size : size,
        whole: false,
        percent: false,
      });
    } else if (word !== undefined) tokens.push(...tokensOfWord(word));
    else tokens.push({ kind: 'separator' });
  }
  return tokens;
}

const ourName = 'theMetricOfTheTask';
const alteredName = 'somethingSimilar';
const anyName = new RegExp(`${ourName}|${alteredName}`);

interface Names {
  ours: RegExp;
  longer: RegExp;
  timeUnit: number | null;
}

/** The longest spellings come first. */
function patternOf(spellings: readonly string[]): RegExp {
  const patterns = spellings.map((spelling) => {
    // Of "NDCG@10", the value at another length is another metric.
    const notBefore = spellings.some((each) => / \d+$/.test(each)) ? '(?!\\s?@\\s?\\d)' : '';
    const parts = spelling.split(' ').map((word) => shortened[word] ?? word);
    return `${parts.join('[^A-Za-z0-9]{0,3}')}${notBefore}`;
  });
  return new RegExp(`(?<![A-Za-z0-9])(?:${patterns.join('|') || '(?!)'})(?![A-Za-z0-9])`, 'gi');
}

/** "top-3 accuracy", "MAE (log scale)", "MAE by region". */
const alteration = new RegExp(
  `(?<![A-Za-z0-9])(?:top[-_ ]?\\d+|log|adj(?:usted)?)[-_ ]{1,2}${ourName}|${ourName}[-_ ]{1,2}(?:\\(?log|by|per)\\b`,
  'g',
);
/** Of scikit-learn: "neg_mean_absolute_error: -3.2". */
const negated = new RegExp(`(?<![A-Za-z0-9])neg(?:ative)?[-_ ](${ourName}[^\\d-]{0,20})-(?=[\\d.])`, 'g');

/** How people shorten the words of a metric's name. */
const shortened: Readonly<Record<string, string>> = {
  absolute: 'abs(?:olute)?',
  squared: 'sq(?:uared?)?',
  percentage: '(?:percent(?:age)?|pct)',
  error: 'err(?:or)?',
  mean: '(?:mean|avg|average)',
  average: '(?:average|avg)',
  the: '(?:the)?',
};

const timePattern =
  /(?<![\w.])(\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+)\s*((?:[mnuµ]|milli|micro|nano)?(?:s|secs?|seconds?)|mins|minutes?)(?!\w)/gi;

/** How many seconds a unit of time is; 1 for other words. */
function secondsIn(unit: string): number {
  const [, start = ''] = /^(min(?:ute)?|milli|micro|nano|[mnuµ](?=s))(?=s|$)/i.exec(unit) ?? [];
  const known = { min: 60, mil: 1e-3, m: 1e-3, mic: 1e-6, u: 1e-6, µ: 1e-6, nan: 1e-9, n: 1e-9 };
  return new Map(Object.entries(known)).get(start.slice(0, 3).toLowerCase()) ?? 1;
}

/** Replaces all spellings of the metric by one name: `mean absolute error`, `Mean_Absolute-Error`, `MAE`. */
function withShortNames(line: string, { ours, longer, timeUnit }: Names): string {
  // "R^2" and "R²" become one word for the steps below.
  let text = (timeUnit === null ? line : withTimesIn(timeUnit, line))
    .replace(/['’]s\b/g, '')
    .replace(/\bin[-_ ]sample\b/gi, 'train')
    .replace(/\b\d{4}-\d\d-\d\d\b/g, 'date')
    .replace(/\bR(?:\^2|\*\*2|²)/gi, 'r2')
    .replace(/\bvalidation[_ -]?set\b/gi, 'validation');
  text = text.replace(
    /\b(?:cross[-_ ]?val(?:idation|idated)?|out[-_ ]of[-_ ](?:fold|sample))(?![a-z])/gi,
    'cv',
  );
  text = text.replace(/\bhe?ld?[-_ ]?out\b/gi, 'holdout').replace(/\bhold[-_ ]out\b/gi, 'holdout');
  text = text.replace(longer, alteredName).replace(ours, ourName);
  return timeUnit === null ? text.replace(alteration, alteredName).replace(negated, '$1') : text;
}

/**
 * Times in the unit of the metric. "took 3.2 s (least 3.1 s)" identifies the metric only by the unit of the first one,
 * preferably outside brackets.
 */
function withTimesIn(timeUnit: number, line: string): string {
  const found = [...line.matchAll(timePattern)].map(({ index }) => index);
  const outside = found.find((index) => line.lastIndexOf('(', index) <= line.lastIndexOf(')', index));
  return line.replace(timePattern, (_, number: string, unit: string, index: number) => {
    const value = Number(((Number(number) * secondsIn(unit)) / timeUnit).toPrecision(12));
    return index === (outside ?? found[0]) ? `${ourName} ${value}` : `${value}`;
  });
}

const plainNumber = '[-+]?(?:\\d{1,40}(?:\\.\\d{0,40})?|\\.\\d{1,40})(?:e[-+]?\\d{1,4})?';
const gap = '[ \\t]{0,3}';
/** "at threshold 0.35: 0.91", "for k=5: 0.91", "@0.9: 2.1". */
const setting = new RegExp(
  `(?:@|\\b(?:for|with|at|using)\\b)${gap}(?:([a-z_]\\w{0,40})${gap}=?${gap})?${plainNumber}(?=${gap}(?:[:=→]|->|is\\b)${gap}[-+.\\d])`,
  'gi',
);
/** "from 4.1 to 3.2", "4.1 -> 3.2". */
const oldValue = new RegExp(
  `(?<![\\w.])(?:from )?${plainNumber}${gap}(?:\\bto\\b|->|→)${gap}(?=${plainNumber})`,
  'gi',
);
const twoSubjects = new RegExp(`\\b([a-z]{2,12})${gap}[/,]${gap}([a-z]{2,12})\\b`, 'gi');
const twoNumbers = new RegExp(
  `(?<![\\w.])(${plainNumber})${gap}/${gap}(${plainNumber})|[([](${plainNumber}),${gap}(${plainNumber})[)\\]]`,
  'gi',
);

/** Removes the names of Python files, and numbers that are settings, old values or, beside validation, of training. */
function withoutOthers(line: string): string {
  const text = line
    .replace(/\b\w+\.py\b(?::\d+)?/g, '')
    .replace(setting, (whole, word: string = '') =>
      subjects[word.toLowerCase()] === undefined ? ' ' : whole,
    )
    .replace(oldValue, '');
  // "train/val RMSE: 2.0/3.2", "(train, valid) rmse = (2.0, 3.2)".
  let place: number | null = null;
  const single = text.replace(twoSubjects, (whole, ...both: string[]) => {
    const pair = both.slice(0, 2).map((word) => subjects[word.toLowerCase()]);
    if (!pair.includes('train') || !pair.includes('validation')) return whole;
    place = pair.indexOf('validation');
    return both[place] ?? whole;
  });
  return place === null
    ? text
    : single.replace(twoNumbers, (whole, ...numbers: string[]) => {
        return numbers.slice(0, 4).filter((each) => each !== undefined)[place ?? 0] ?? whole;
      });
}

/** Removes text in brackets between a name and its value, except for the words that say on what it was measured. */
function withoutAsides(line: string): string {
  return line.replace(/[([]([^()[\]]*)[)\]](?=\s*[:=])/g, (aside: string, inner: string) => {
    if (anyName.test(inner)) return aside;
    const kept = words(inner).filter((word) => subjects[word] !== undefined);
    return ` ${kept.join(' ')} `;
  });
}

function tokensOfWord(word: string): Token[] {
  const name = anyName.exec(word)?.[0];
  const parts = words(name === undefined ? word : word.replace(name, ' '));
  const subject = parts.map((part) => subjects[part]).find((each) => each !== undefined);
  const tokens: Token[] = [];
  if (subject !== undefined)
    tokens.push({ kind: 'subject', subject, glued: parts.length > 1 || name !== undefined });
  if (name !== undefined) tokens.push({ kind: 'metric', altered: name === alteredName });
  else if (parts.some((part) => otherMetrics.has(part))) tokens.push({ kind: 'other metric' });
  return tokens.length > 0 ? tokens : [{ kind: 'word' }];
}
