import { withoutEnd } from '../../lib/without-end.ts';

/** A number as written in a text. */
export interface NumberToken {
  kind: 'number';
  value: number;
  /** Of the last written digit: 0.01 for 0.85; for 18,000 of the last one that is not a zero. */
  unit: number;
  whole: boolean;
  /** What immediately follows it: a per cent sign, a unit of time, nothing. */
  suffix: 'percent' | 'time' | 'times' | null;
}

export interface WordToken {
  kind: 'word';
  /** In lower case. */
  text: string;
  /** The parts of the word: `val_loss` is `val` and `loss`. */
  parts: readonly string[];
}

export type Token = NumberToken | WordToken | { kind: 'mark'; text: string };

/**
 * Numbers stand alone: not in a name (`resnet18`), a version (1.2.3), a date, a path or a range. A sign counts after a space,
 * a bracket, `=` or `:`. Groups: a number, its suffix; a word; a mark.
 */
const everyLetter =
  /((?<![\p{L}\p{N}_.\\/#-])(?:(?<=^|[\s([{=:,])[-−])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:\.\d+|(?<=\d))(?:[eE][-+]?\d+)?)(\s?%|\s?per ?cent\b|\s?(?:s|sec|secs|seconds?|ms|milliseconds?|min|minutes?|hours?)(?![\p{L}\p{N}_])|k(?![\p{L}\p{N}_])|\s?[x×](?![\p{L}\p{N}_])|)(?![\p{L}\p{N}_]|[/\\-]\d|\.\d)|([\p{L}_][\p{L}\p{N}_²^'-]*|\d[\p{L}\p{N}_.-]*)|([:=,;()|<>≤≥→])/gu;

/** The same for ASCII only, which is faster and covers most texts. */
const plainLetters = new RegExp(
  everyLetter.source.replaceAll('\\p{L}', 'a-zA-Z').replaceAll('\\p{N}', '0-9'),
  'g',
);
const isPlain = /^[\u0000-\u007f]*$/;

/** The words and numbers of one sentence or line, in order. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = isPlain.test(text) ? plainLetters : everyLetter;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [, number, suffix = '', word, mark] = match;
    if (number !== undefined) tokens.push(numberToken(number, suffix.trim()));
    else if (word !== undefined) tokens.push(wordToken(word));
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
  }
  return tokens;
}

/** By number of decimals: computing powers would take longer than all the rest. */
const units = Array.from({ length: 20 }, (_, decimals) => 10 ** -decimals);

function numberToken(text: string, suffix: string): NumberToken {
  if (suffix === '' && /^\d{1,3}(?:\.\d+)?$/.test(text)) {
    const point = text.indexOf('.');
    const decimals = point < 0 ? 0 : text.length - point - 1;
    return {
      kind: 'number',
      value: Number(text),
      unit: units[decimals] ?? 10 ** -decimals,
      whole: decimals === 0,
      suffix: null,
    };
  }
  const digits = text.replaceAll(',', '').replace('−', '-');
  const scale = suffix === 'k' ? 1000 : 1;
  const [mantissa = '', exponent = '0'] = digits.toLowerCase().split('e');
  const decimals = mantissa.split('.')[1]?.length ?? 0;
  const whole = decimals === 0;
  const rounded = whole && Math.abs(Number(digits)) >= 1000;
  const zeros = rounded ? mantissa.length - withoutEnd(mantissa, '0').length : 0;
  return {
    kind: 'number',
    value: Number(digits) * scale,
    unit: 10 ** (zeros - decimals + Number(exponent)) * scale,
    whole: whole && exponent === '0',
    suffix: suffixOf(suffix),
  };
}

function suffixOf(suffix: string): NumberToken['suffix'] {
  if (suffix === '' || suffix === 'k') return null;
  if (suffix === 'x' || suffix === '×') return 'times';
  return /^(?:%|per)/.test(suffix) ? 'percent' : 'time';
}

function wordToken(word: string): WordToken {
  if (/^[a-z]+$/.test(word)) return { kind: 'word', text: word, parts: [word] };
  const spelt = word.replace(/\bR(?:\^2|²)/i, 'r2').replace(/([a-z])([A-Z])/g, '$1_$2');
  const text = withoutEnd(spelt.toLowerCase(), "'’-");
  return { kind: 'word', text, parts: text.split(/[_'’-]+/).filter((part) => part !== '') };
}
