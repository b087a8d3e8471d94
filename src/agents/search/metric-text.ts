export const subjects: Readonly<Record<string, 'train' | 'validation'>> = {
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

/** Replaces all spellings of the metric by one name: `mean absolute error`, `Mean_Absolute-Error`, `MAE`. */
export function withShortNames(line: string, { ours, longer, timeUnit }: Names): string {
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

/** What is left of a line once everything is removed that could be taken for the value or hides it. */
export function withoutDetails(line: string): string {
  return withoutAsides(withoutOthers(line));
}
