export type Subject = 'train' | 'validation' | 'test';

/** Words that say on what a value was measured. */
const subjectWords: Readonly<Record<Subject, string>> = {
  train: 'train training trn fit',
  validation: 'val valid validation validate cv crossval oof dev holdout heldout eval',
  test: 'test testing tst',
};
const subjects = new Map(
  (['train', 'validation', 'test'] as const).flatMap((subject) =>
    subjectWords[subject].split(' ').map((word) => [word, subject] as const),
  ),
);

/** The first subject among the words of a text. */
export function subjectOf(text: string): Subject | undefined {
  return words(text)
    .map((word) => subjects.get(word))
    .find((subject) => subject !== undefined);
}

export function saysTest(line: string): boolean {
  return words(line).some((word) => subjects.get(word) === 'test');
}

export function words(text: string): string[] {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

export const ourName = 'theMetricOfTheTask';
export const alteredName = 'somethingSimilar';
export const anyName = new RegExp(`${ourName}|${alteredName}`);

export interface Names {
  ours: RegExp;
  longer: RegExp;
  timeUnit: number | null;
  /** A number of the metric's unit, of a rate such as "trips per second"; null for other metrics. */
  rate?: RegExp | null;
}

/** "1158 trips/s" for a rate in "trips per second"; null for units of another form. */
export function rateIn(unit: string): RegExp | null {
  const what = /^([a-z ]{1,40}?) ?(?:per|\/) ?s(?:ec(?:ond)?)?$/i.exec(unit.trim())?.[1];
  if (what === undefined) return null;
  return new RegExp(`(?<![\\w.])([\\d,.]{1,40}) ?${what} ?(?:per|/) ?s(?:ec(?:ond)?)?(?!\\w)`, 'gi');
}

/** The longest spellings come first. */
export function patternOf(spellings: readonly string[]): RegExp {
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
export function secondsIn(unit: string): number {
  const [, start = ''] = /^(min(?:ute)?|milli|micro|nano|[mnuµ](?=s))(?=s|$)/i.exec(unit) ?? [];
  const known = { min: 60, mil: 1e-3, m: 1e-3, mic: 1e-6, u: 1e-6, µ: 1e-6, nan: 1e-9, n: 1e-9 };
  return new Map(Object.entries(known)).get(start.slice(0, 3).toLowerCase()) ?? 1;
}

/** Different ways to write the same, made equal. */
const unified: readonly (readonly [RegExp, string])[] = [
  [/['’]s\b/g, ''],
  [/\bin[-_ ]sample\b/gi, 'train'],
  [/\b\d{4}-\d\d-\d\d\b/g, 'date'],
  // A single word for the steps below.
  [/\bR(?:\^2|\*\*2|²)/gi, 'r2'],
  [/\bvalidation[_ -]?set\b/gi, 'validation'],
  [/\b(?:cross[-_ ]?val(?:idation|idated)?|out[-_ ]of[-_ ](?:fold|sample))(?![a-z])/gi, 'cv'],
  [/\bh(?:e?ld?|old)[-_ ]?out\b/gi, 'holdout'],
];

/** Replaces all spellings of the metric by one name: `mean absolute error`, `Mean_Absolute-Error`, `MAE`. */
export function withShortNames(line: string, { ours, longer, timeUnit, rate = null }: Names): string {
  if (rate !== null && line.search(ours) < 0) return line.replace(rate, `${ourName} $1`);
  let text = timeUnit === null ? line : withTimesIn(timeUnit, line);
  for (const [pattern, replacement] of unified) text = text.replace(pattern, replacement);
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
const subjectNames = [...subjects.keys()].join('|');
/** "at threshold 0.35: 0.91", "for k=5: 0.91", "@0.9: 2.1". */
const setting = new RegExp(
  `(?:@|\\b(?:for|with|at|using)\\b)${gap}(?:(?!(?:${subjectNames})\\b)[a-z_]\\w{0,40}${gap}=?${gap})?${plainNumber}(?=${gap}(?:[:=→]|->|is\\b)${gap}[-+.\\d])`,
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

const another: readonly (readonly [RegExp, string])[] = [
  [/\b\w+\.py\b(?::\d+)?/g, ''],
  [setting, ' '],
  // "pinball@0.9 3.06"
  [new RegExp(`@${gap}${plainNumber}(?=[ \\t]{1,3}[-+.\\d])`, 'gi'), ' '],
  [oldValue, ''],
  // "on 750 validation rows"
  [/\b(on|over|across|among)\s{1,3}\d[\d,]{0,12}\s{1,3}(?=[a-z])/gi, '$1 '],
];

/** Of "train/val RMSE: 2.0/3.2" and "(train, valid) rmse = (2.0, 3.2)", only the validation. */
function withoutTraining(line: string): string {
  let place: number | null = null;
  const single = line.replace(twoSubjects, (whole, ...both: string[]) => {
    const pair = both.slice(0, 2).map((word) => subjects.get(word.toLowerCase()));
    if (!pair.includes('train') || !pair.includes('validation')) return whole;
    place = pair.indexOf('validation');
    return both[place] ?? whole;
  });
  if (place === null) return line;
  return single.replace(twoNumbers, (whole, ...numbers: string[]) => {
    return numbers.slice(0, 4).filter((each) => each !== undefined)[place ?? 0] ?? whole;
  });
}

/**
 * What is left of a line once everything is removed that could be taken for the value or hides it: names of Python files,
 * settings, old values, what was measured in training, and text in brackets between a name and its value, except for
 * the words that say on what it was measured.
 */
export function withoutDetails(line: string): string {
  let text = line;
  for (const [pattern, replacement] of another) text = text.replace(pattern, replacement);
  const aside = /[([]([^()[\]]*)[)\]](?=\s*(?:[:=]|->)(\s*[-+]?[.\d])?)/g;
  return withoutTraining(text).replace(aside, (whole, inner: string, value?: string) => {
    // "cost (pinball 0.8) -> 34.7"
    if (anyName.test(inner)) return value === undefined ? whole : whole.replace(/(?<!\w)\d[\d.]*/g, '');
    const told = words(inner).filter((word) => subjects.has(word));
    return ` ${told.join(' ')} `;
  });
}
