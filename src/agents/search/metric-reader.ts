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
import {
  alteredName,
  anyName,
  type Names,
  ourName,
  patternOf,
  secondsIn,
  subjects,
  withoutDetails,
  withShortNames,
  words,
} from './metric-text.ts';

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
  const best = readings.reduce((most, { rank }) => Math.max(most, rank), Number.NEGATIVE_INFINITY);
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
  for (const match of withoutDetails(withShortNames(line, names)).matchAll(tokenPattern)) {
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
