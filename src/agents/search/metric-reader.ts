import { stripVTControlCharacters } from 'node:util';
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
  rateIn,
  type Subject,
  saysTest,
  secondsIn,
  subjectOf,
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

interface Found {
  value: number;
  percent: boolean;
  subject: Subject | null;
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
  for (const other of isTime ? [] : otherMetricsFor(metric)) {
    const reading = readAs(output, other, spellingsOf(other), null);
    const sign = other.direction === metric.direction ? 1 : -1;
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
  let heading: Subject | null = null;
  let pending = '';
  let ofLinesBelow = '';
  const rate = isTimeLike(metric) && metric.direction === 'maximize' ? rateIn(metric.unit) : null;
  const names = { ours: patternOf(spellings), longer: patternOf(longerSpellings(spellings)), timeUnit, rate };
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
    const isPart = ofLinesBelow !== '' && subjectOf(words(row)[0] ?? '') !== undefined;
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
  const lines = stripVTControlCharacters(output)
    .trimEnd()
    .split(/\r\n|\n|\r/);
  if (lines.at(-1)?.startsWith('[exit code')) lines.pop();
  return lines.filter((line) => line.length <= longestLine);
}

/** The subject of the lines below a heading such as `Validation:` or `=== train ===`; undefined for other lines. */
function headingOf(line: string): Subject | null | undefined {
  const isHeading = /^\s*(?:[=#*-]{2}.*|#.*|[^\d:]+:|"?\w+"?:\s*\{|\[[^\]]*\])\s*$/.test(line);
  if (!isHeading || words(line).length > 4 || /\d/.test(line)) return undefined;
  return saysTest(line) ? 'test' : (subjectOf(line) ?? null);
}

/** Every value of the metric in a line, with the data that it was measured on. */
function readLine(line: string, names: Names): Found[] {
  const { kinds, numbers } = tokensOf(line, names);
  const found: Found[] = [];
  // The last name of the metric, while its value is still to come.
  let name = '';
  let isAgain = false;
  let separated = false;
  let trails = false;
  let current = '';
  let glued = '';
  for (const [index, kind] of [...kinds].entries()) {
    const rest = kinds.slice(index + 1);
    if (/[MA]/.test(kind)) {
      name = kind;
      separated = trails = false;
    } else if (kind === 'O') {
      name = glued = '';
    } else if (kind === ':') {
      separated = true;
    } else if (/[tv]/.test(kind)) {
      glued = kind;
    } else if (/[TV]/.test(kind)) {
      if (!trails) current = kind;
      // "MAE: train 3.1, valid 4.2" names the metric once for several numbers.
      const [, before = ''] = /([MA])[^MAO]*$/.exec(kinds.slice(0, index)) ?? [];
      isAgain = found.length > 0 && before !== '';
      if (isAgain) name = before;
    } else if (kind === 'W' && isAgain && rest.startsWith(':')) {
      // "mae=3.2 | split=valid | rows=300" does not.
      name = '';
      isAgain = false;
    } else if (/[#0]/.test(kind) && name !== '') {
      // A number may be only a detail before the value, as 5 is in "MAE over 5 folds: 44.1".
      if (!separated && kind === '#' && /^[^MA#0:][^MA#0]*(?<=:)[#0]/.test(rest)) continue;
      // "MAE: 44.1 (validation)".
      const [trailing = ''] = /^[TV]/.exec(rest) ?? [];
      if (trails && trailing === '') continue;
      trails ||= glued + current === '' && trailing !== '';
      found.push(foundAt(index, numbers, glued || current || trailing, name));
      name = glued = '';
    }
  }
  const [only] = found;
  if (only === undefined) {
    // "95.3 % validation accuracy": read only if no number follows the name.
    const before = /[#0][TVtv]*([MA])/.exec(kinds);
    if (before === null) return [];
    const [subject = ''] = /[TVtv]/.exec(kinds.slice(before.index)) ?? [];
    return [foundAt(before.index, numbers, subject, before[1] ?? '')];
  }
  // "MAE: 44.1 | split: validation".
  const stated = subjectOfKind(/W:([TV])/.exec(kinds)?.[1] ?? '');
  return found.length > 1 ? found : [{ ...only, subject: only.subject ?? stated }];
}

function foundAt(index: number, numbers: Tokens['numbers'], subject: string, name: string): Found {
  const { value, percent } = numbers.get(index) ?? { value: Number.NaN, percent: false };
  return { value, percent, subject: subjectOfKind(subject), altered: name === 'A' };
}

function subjectOfKind(kind: string): Subject | null {
  return kind === '' ? null : /t/i.test(kind) ? 'train' : 'validation';
}

/**
 * The tokens of a line. The kind of each is a letter: `M` the metric, `A` one with a similar name, `O` another one, `T` and
 * `V` data for training and for validation (`t` and `v`: said in the name of a metric), `W` other words, `:` separators,
 * `#` whole numbers, `0` other numbers.
 */
interface Tokens {
  kinds: string;
  /** By their place among the tokens. */
  numbers: Map<number, { value: number; percent: boolean }>;
}

/** A unit may follow a number directly: 27.1dB, 310ms; but 5fold is a word, and 1.2.3 a version. */
const tokenPattern =
  /(?<number>(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?:(?!\w|\.\d)|(?<=\.\d{1,40})(?=[A-Za-z])|(?=(?:[mun]?s|secs?|seconds|db|km)\b)))|(?<odd>(?<!\w)[-+]?(?:nan|inf|infinity)(?!\w))|(?<word>[A-Za-z_][\w.²-]*|\d[\w.]*)|(?<separator>[-=]>|[:=|→])/gi;

function tokensOf(line: string, names: Names): Tokens {
  const numbers: Tokens['numbers'] = new Map();
  let kinds = '';
  // "MAE ..... 3.1": dots lead to the value.
  const text = withoutDetails(withShortNames(line.replace(/(?<!\d)\.{2,}/g, ' : '), names));
  for (const { groups = {}, input, index } of text.matchAll(tokenPattern)) {
    const { number, odd, word } = groups;
    if (word !== undefined) kinds += kindsOfWord(word);
    else if (number !== undefined) {
      const percent = /^\s?(?:%|per ?cent\b)/i.test(input.slice(index + number.length));
      numbers.set(kinds.length, { value: Number(number.replaceAll(',', '')), percent });
      kinds += /^\d+$/.test(number) ? '#' : '0';
    } else if (odd !== undefined) {
      const size = /nan/i.test(odd) ? Number.NaN : Number.POSITIVE_INFINITY;
      numbers.set(kinds.length, { value: odd.startsWith('-') ? -size : size, percent: false });
      kinds += '0';
    } else kinds += ':';
  }
  return { kinds, numbers };
}

function kindsOfWord(word: string): string {
  const name = anyName.exec(word)?.[0];
  const others = name === undefined ? word : word.replace(name, ' ');
  const parts = words(others);
  const subject = subjectOf(others);
  const letter = subject === undefined ? '' : subject === 'train' ? 'T' : 'V';
  const isGlued = parts.length > 1 || name !== undefined;
  const metric = name === undefined ? '' : name === alteredName ? 'A' : 'M';
  const other = metric === '' && parts.some((part) => otherMetrics.has(part)) ? 'O' : '';
  return (isGlued ? letter.toLowerCase() : letter) + metric + other || 'W';
}
