import { mutateJson } from './mutate-json.ts';
import type { FuzzRandom } from './random.ts';

export interface Surroundings {
  random: FuzzRandom;
  words: readonly string[];
  /** Other inputs, to take parts from. */
  others: readonly Buffer[];
  maxBytes: number;
}

type Mutation = (input: Buffer, surroundings: Surroundings) => Buffer;

/** An input with some changes: mostly few, sometimes many. */
export function mutate(input: Buffer, surroundings: Surroundings): Buffer {
  const { random, maxBytes } = surroundings;
  let changed = input;
  for (let count = 1 + Math.floor(random.next() ** 3 * 8); count > 0; count -= 1) {
    changed = random.pick(mutations)(changed, surroundings).subarray(0, maxBytes);
  }
  return changed;
}

/** Texts that are difficult for readers of any format. */
const trickyTexts: readonly string[] = [
  ...['', '\0', '\n', '\r', '\r\n', '\t', '\u2028', '\ufeff', '\ufffd', '\u202e', '\x1b[31m', '\x07', '\x7f'],
  ...[
    '-1',
    '0',
    '1e309',
    '1e-400',
    '-0',
    '9007199254740993',
    '99999999999999999999',
    '0x10',
    'NaN',
    'Infinity',
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined', 'true', '[]', '{}'],
  ...[
    '../',
    '/',
    '//',
    './',
    '..',
    '.',
    '\\',
    'C:\\',
    '/etc/passwd',
    '~',
    '*',
    '**',
    '?',
    '%00',
    '%2e%2e%2f',
    '%',
  ],
  ...[
    '"',
    "'",
    '`',
    '"""',
    '```',
    '<script>',
    '&lt;',
    '=1+1',
    '+1',
    '@x',
    '|',
    '[x](javascript:y)',
    '$(x)',
    '{{x}}',
  ],
  ...['é', 'e\u0301', '😀', 'ß', 'İ', '\u0130', 'ﬁ', '\u{e0001}', '\u3000', '１'],
];
const trickyBytes: readonly Buffer[] = [
  ...[[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80]],
  ...[
    [0xff, 0xff, 0xff, 0xff],
    [0x7f, 0xff, 0xff, 0xff],
    [0, 0, 0, 0],
    [0xff, 0xff, 0xff, 0x7f],
    [0, 0, 0, 1],
  ],
].map((bytes) => Buffer.from(bytes));

const mutations: readonly Mutation[] = [
  changeByte,
  insertTricky,
  insertTricky,
  insertWord,
  insertWord,
  replaceByWord,
  remove,
  remove,
  repeatSlice,
  repeatMany,
  nest,
  moveSlice,
  splice,
  changeNumber,
  swapLines,
  repeatLine,
  cut,
  json,
  json,
  json,
];

function changeByte(input: Buffer, { random }: Surroundings): Buffer {
  const changed = Buffer.from(input);
  if (changed.length === 0) return changed;
  const at = random.below(changed.length);
  changed[at] = random.chance(0.5) ? random.below(256) : (changed[at] ?? 0) ^ (1 << random.below(8));
  return changed;
}

function insertTricky(input: Buffer, { random }: Surroundings): Buffer {
  const piece = random.chance(0.8) ? Buffer.from(random.pick(trickyTexts)) : random.pick(trickyBytes);
  return inserted(input, random.below(input.length + 1), piece);
}

function insertWord(input: Buffer, { random, words }: Surroundings): Buffer {
  if (words.length === 0) return input;
  return inserted(input, random.below(input.length + 1), Buffer.from(random.pick(words)));
}

/** Replaces one word by another. */
function replaceByWord(input: Buffer, { random, words }: Surroundings): Buffer {
  const [start, end] = wordAt(input, random.below(input.length + 1));
  const word = random.pick(words.length > 0 && random.chance(0.7) ? words : trickyTexts);
  return Buffer.concat([input.subarray(0, start), Buffer.from(word), input.subarray(end)]);
}

function remove(input: Buffer, { random }: Surroundings): Buffer {
  const [start, end] = slice(input, random, 64);
  return Buffer.concat([input.subarray(0, start), input.subarray(end)]);
}

function repeatSlice(input: Buffer, { random }: Surroundings): Buffer {
  const [start, end] = slice(input, random, 64);
  return inserted(input, random.below(input.length + 1), input.subarray(start, end));
}

/** Work that grows faster than its input shows with thousands of equal parts. */
function repeatMany(input: Buffer, { random, maxBytes }: Surroundings): Buffer {
  if (!random.chance(0.15)) return repeatSlice(input, { random, maxBytes, words: [], others: [] });
  const [start, end] = slice(input, random, 16);
  const piece = input.subarray(start, end);
  if (piece.length === 0) return input;
  const room = Math.max(0, maxBytes - input.length);
  const count = Math.min(Math.floor(room / piece.length), 2 ** random.below(16));
  return inserted(input, start, Buffer.concat(Array.from({ length: count }, () => piece)));
}

const brackets: readonly (readonly [string, string])[] = [
  ...([
    ['[', ']'],
    ['{"a":', '}'],
    ['(', ')'],
    ['{', '}'],
    ['- ', ''],
    ['"', '"'],
    ['<a>', '</a>'],
  ] as const),
  ...([
    ['a/', ''],
    ['> ', ''],
    ['  ', ''],
    ['*', '*'],
    ['\\', ''],
    ['{a,', '}'],
    ['not ', ''],
    ['lambda:', ''],
  ] as const),
];

function nest(input: Buffer, { random, maxBytes }: Surroundings): Buffer {
  const [start, end] = slice(input, random, 64);
  const [opening, closing] = random.pick(brackets);
  const most = Math.floor(Math.max(0, maxBytes - input.length) / (opening.length + closing.length));
  const count = Math.min(most, random.chance(0.2) ? 2 ** random.below(15) : 1 + random.below(4));
  const middle = input.subarray(start, end);
  return Buffer.concat([
    input.subarray(0, start),
    ...[Buffer.from(opening.repeat(count)), middle, Buffer.from(closing.repeat(count))],
    input.subarray(end),
  ]);
}

function moveSlice(input: Buffer, { random }: Surroundings): Buffer {
  const [start, end] = slice(input, random, 256);
  const rest = Buffer.concat([input.subarray(0, start), input.subarray(end)]);
  return inserted(rest, random.below(rest.length + 1), input.subarray(start, end));
}

function splice(input: Buffer, { random, others }: Surroundings): Buffer {
  if (others.length === 0) return input;
  const other = random.pick(others);
  if (random.chance(0.5)) {
    const [start, end] = slice(other, random, 512);
    return inserted(input, random.below(input.length + 1), other.subarray(start, end));
  }
  const head = input.subarray(0, random.below(input.length + 1));
  return Buffer.concat([head, other.subarray(random.below(other.length + 1))]);
}

const numbers: readonly string[] = [
  ...['0', '-1', '1', '2', '255', '256', '65536', '2147483648', '4294967296', '9007199254740992', '1e21'],
  ...['-0', '0.1', '1e400', '00', '1_000', '99999999999999999999999999'],
];

function changeNumber(input: Buffer, { random }: Surroundings): Buffer {
  const text = input.toString('latin1');
  const found = [...text.slice(0, 20_000).matchAll(/\d+/g)];
  if (found.length === 0) return input;
  const { index, 0: digits } = random.pick(found);
  const value = random.chance(0.5) ? random.pick(numbers) : String(Number(digits) + random.below(5) - 2);
  return Buffer.from(text.slice(0, index) + value + text.slice(index + digits.length), 'latin1');
}

function swapLines(input: Buffer, { random }: Surroundings): Buffer {
  const lines = linesOf(input);
  const [one, other] = [random.below(lines.length), random.below(lines.length)];
  const [first = '', second = ''] = [lines[one], lines[other]];
  return fromLines(lines.with(one, second).with(other, first));
}

function repeatLine(input: Buffer, { random }: Surroundings): Buffer {
  const lines = linesOf(input);
  const line = random.pick(lines);
  return fromLines(lines.toSpliced(random.below(lines.length + 1), 0, line));
}

function cut(input: Buffer, { random }: Surroundings): Buffer {
  return input.subarray(0, random.below(input.length + 1));
}

/** Changes a value of the whole input, or of one of its lines, if that is JSON. */
function json(input: Buffer, { random, words }: Surroundings): Buffer {
  const whole = mutateJson(input.toString('utf8'), random, [...words, ...trickyTexts]);
  if (whole !== null) return Buffer.from(whole);
  const lines = linesOf(input);
  const at = random.below(lines.length);
  const line = Buffer.from(lines[at] ?? '', 'latin1').toString('utf8');
  const changed = mutateJson(line, random, [...words, ...trickyTexts]);
  return changed === null ? input : fromLines(lines.with(at, Buffer.from(changed).toString('latin1')));
}

function linesOf(input: Buffer): string[] {
  return input.toString('latin1').split('\n');
}

function fromLines(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join('\n'), 'latin1');
}

function inserted(input: Buffer, at: number, piece: Buffer): Buffer {
  return Buffer.concat([input.subarray(0, at), piece, input.subarray(at)]);
}

function slice(input: Buffer, random: FuzzRandom, most: number): [start: number, end: number] {
  const start = random.below(input.length + 1);
  const longest = random.chance(0.1) ? input.length : most;
  return [start, Math.min(input.length, start + 1 + random.below(longest))];
}

function wordAt(input: Buffer, at: number): [start: number, end: number] {
  const isWord = (byte: number | undefined) => byte !== undefined && /\w/.test(String.fromCharCode(byte));
  let [start, end] = [at, at];
  while (start > 0 && isWord(input[start - 1])) start -= 1;
  while (end < input.length && isWord(input[end])) end += 1;
  return [start, end];
}
