import { jsonrepair } from 'jsonrepair';
import { plainName } from './names.ts';

/**
 * Reads `{ "name": value, … }` as models write it: strict JSON, or with single, triple or typographic quotes, raw line
 * breaks and unescaped quotes inside texts, comments, Python literals, missing or extra commas. A repair library alone
 * is not enough: it closes what was cut off as if it were complete, drops lone backslashes (`C:\data` → `C:data`) and
 * reads `'don't'` as `don"t`. So this code separates the members and closes nothing that the model did not close. The
 * library only gets the rest: texts joined by `+`, and objects that are complete but odd.
 */

export interface LooseMember {
  name: string;
  /** A text is decoded; anything else is the source as written. */
  text: string;
}

export interface LooseObject {
  /** The complete members. */
  members: LooseMember[];
  /**
   * How it ended: `closed` by its brace, `open` at the end of the text or of the input, or `unreadable` before either.
   */
  ending: 'closed' | 'open' | 'unreadable';
  /** The name of the member in which the text ended. */
  cutMember: string | null;
  /** The position after the last character that was read. */
  end: number;
  /** Whether it is strict JSON. */
  strict: boolean;
}

/**
 * The object that begins at `start`. `expected`: names that distinguish the beginning of a member from quotes inside a
 * text.
 */
export function readLooseObject(text: string, start: number, expected: readonly string[]): LooseObject {
  const strictEnd = endOfStrict(text, start);
  if (strictEnd !== null) {
    const object = new LooseReader(text.slice(start, strictEnd), 0, expected, true).read();
    return { ...object, end: strictEnd };
  }
  const object = new LooseReader(text, start, expected, false).read();
  return object.ending === 'unreadable' ? (repairedByLibrary(text, start) ?? object) : object;
}

/** Where the object ends if it is strict JSON, whatever follows; otherwise null. */
function endOfStrict(text: string, start: number): number | null {
  const end = endOfNested(text, start);
  if (end === null) return null;
  try {
    JSON.parse(text.slice(start, end));
    return end;
  } catch {
    return null;
  }
}

/**
 * The position after the bracket that closes the one at `start`, counting only plain double-quoted texts; null if it is
 * not closed.
 */
function endOfNested(text: string, start: number): number | null {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') {
      at = endOfPlainText(text, at);
    } else if ('{[('.includes(character)) {
      depth++;
    } else if ('}])'.includes(character)) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}

function endOfPlainText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at;
}

const closingQuotes: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”',
  '”': '”',
  '‘': '’',
  '’': '’',
};
/** Comments have a bounded length: at every quote that could end a text, the code looks at what follows. */
const blank = /(?:\s+|\/\/[^\n]{0,500}|#[^\n]{0,500}|\/\*[\s\S]{0,500}?\*\/)*/y;
const memberName =
  /(?:"([^"\n]{1,80})"|'([^'\n]{1,80})'|[“”]([^“”\n]{1,80})[“”]|([\p{L}_][\p{L}\p{N}_\\ -]{0,60}?))\s*[:=]/uy;
/** What may follow an object that was never closed: the end of a code block, or the next label. */
const afterInput = /\s*(?:```|\*{0,2}(?:Observation|Thought|Action(?: Input)?)\*{0,2}:)/iy;
const inputEnd = /\n[^\S\n]*(?:```|\*{0,2}(?:Observation|Thought|Action(?: Input)?)\*{0,2}:)/i;
/** After a brace: signs that the surrounding text continues. */
const goesOn = /[ \t]{0,200}["'),;]/y;
const fences = /[\s`]*/y;
const joinedTexts = /"(?:[^"\\\n]|\\.)*"(?:\s*\+\s*"(?:[^"\\\n]|\\.)*")+/y;

class LooseReader {
  readonly #text: string;
  readonly #expected: ReadonlySet<string>;
  readonly #strict: boolean;
  #at: number;

  constructor(text: string, start: number, expected: readonly string[], strict: boolean) {
    this.#text = text;
    this.#expected = new Set(expected.map(plainName));
    this.#strict = strict;
    this.#at = start + 1;
  }

  read(): LooseObject {
    const members: LooseMember[] = [];
    const ended = (ending: LooseObject['ending'], cutMember: string | null = null): LooseObject => {
      return { members, ending, cutMember, end: this.#at, strict: this.#strict };
    };
    for (;;) {
      this.#skipBlank();
      while (this.#text.charAt(this.#at) === ',') {
        this.#at++;
        this.#skipBlank();
      }
      if (this.#text.charAt(this.#at) === '}') {
        this.#at++;
        return ended('closed');
      }
      if (this.#at >= this.#text.length || this.#match(afterInput) !== null) return ended('open');
      const name = this.#match(memberName);
      if (name === null) return ended(this.#isNameCut() ? 'open' : 'unreadable');
      this.#at += name[0].length;
      const member = name.slice(1).find((group) => group !== undefined) ?? '';
      this.#skipBlank();
      if (this.#at >= this.#text.length) return ended('open', member);
      const value = this.#value();
      if (value === 'cut') {
        this.#at = this.#text.length;
        return ended('open', member);
      }
      if (value === null) return ended('unreadable');
      members.push({ name: member, text: value });
    }
  }

  /** A value and the position after it; null if none can be read. */
  #value(): string | 'cut' | null {
    const joined = this.#match(joinedTexts)?.[0];
    if (joined !== undefined) {
      const value = repaired(joined);
      if (typeof value === 'string') {
        this.#at += joined.length;
        return value;
      }
    }
    const prefix = this.#match(/[rbfu]{1,2}(?=["'])/iy)?.[0] ?? '';
    const first = this.#text.charAt(this.#at + prefix.length);
    if (first in closingQuotes) {
      this.#at += prefix.length;
      return this.#quoted(first, /r/i.test(prefix));
    }
    if ('{[('.includes(first)) return this.#nested();
    return this.#bare();
  }

  #quoted(quote: string, raw: boolean): string | 'cut' {
    const triple = !this.#strict && this.#isTriple(quote);
    const close = (closingQuotes[quote] ?? quote).repeat(triple ? 3 : 1);
    const start = this.#at + close.length;
    const brackets = new Brackets();
    for (let at = start; at < this.#text.length; at++) {
      if (this.#text.charAt(at) === '\\') {
        at++;
      } else if (
        this.#text.startsWith(close, at) &&
        this.#closes(start, at, at + close.length, brackets.areBalanced)
      ) {
        this.#at = at + close.length;
        const content = this.#text.slice(start, at);
        // Triple quotes enclose code with real line breaks, so its escapes belong to the code.
        return raw || (triple && content.includes('\n')) ? content : unescaped(content);
      }
      brackets.add(this.#text.charAt(at));
    }
    return 'cut';
  }

  /** Four or five quotes are a text that begins with quotes, such as a docstring's. */
  #isTriple(quote: string): boolean {
    const count = this.#match(/["'`]{0,6}/y)?.[0].split(quote).length ?? 0;
    return count === 4 || count === 7;
  }

  /** Whether a quote ends the text that began at `start`, or belongs to it. What follows it decides. */
  #closes(start: number, quote: number, behind: number, balanced: boolean): boolean {
    if (this.#strict) return true;
    const before = this.#at;
    this.#at = behind;
    this.#skipBlank();
    const comma = this.#text.charAt(this.#at) === ',';
    const newLine = this.#text.slice(behind, this.#at).includes('\n');
    if (comma) {
      this.#at++;
      this.#skipBlank();
    }
    const isLast = this.#at >= this.#text.length || (comma && this.#isNameCut());
    const closes = isLast
      ? balanced && isWholeAtEnd(this.#text.slice(start, quote), this.#text.charAt(quote), newLine)
      : this.#isMemberEnd(balanced, comma || newLine);
    this.#at = before;
    return closes;
  }

  #isMemberEnd(balanced: boolean, separated: boolean): boolean {
    if (this.#text.charAt(this.#at) === '}') return this.#isObjectEnd(balanced);
    if (!separated) return false;
    const name = this.#match(memberName);
    if (name === null) return this.#match(afterInput) !== null;
    const member = name.slice(1).find((group) => group !== undefined) ?? '';
    if (this.#expected.has(plainName(member))) return true;
    return name[4] === undefined && balanced;
  }

  /** Whether the brace here closes the object, and not one inside the text, such as a dict in code. */
  #isObjectEnd(balanced: boolean): boolean {
    const behind = this.#at + 1;
    if (this.#match(goesOn, behind) !== null) return false;
    if (balanced) return true;
    // Or only fences follow, to the end of the text or of the input.
    const run = this.#match(fences, behind)?.[0] ?? '';
    const [, ...lines] = run.split('\n');
    if (behind + run.length >= this.#text.length) return true;
    if (lines.some((line) => line.trimStart().startsWith('```'))) return true;
    const last = lines.at(-1);
    return last?.trim() === '' && this.#match(afterInput, behind + run.length) !== null;
  }

  #nested(): string | 'cut' {
    const end = endOfNested(this.#text, this.#at);
    if (end === null) return 'cut';
    const source = this.#text.slice(this.#at, end);
    this.#at = end;
    return source;
  }

  /** A number, a word such as None, or a text without its quotes. One that reaches the end may be incomplete. */
  #bare(): string | 'cut' | null {
    const source = this.#match(/[^,}\n]*/y)?.[0] ?? '';
    this.#at += source.length;
    const value = source.replace(/(?:^|\s)(?:#|\/\/).*$/, '').trim();
    if (value === '') return null;
    return this.#at >= this.#text.length && source.trimEnd() === source ? 'cut' : value;
  }

  #isNameCut(): boolean {
    return /^(?:["'“][\p{L}\p{N}_ -]{0,60}["'”]?|\p{L}{0,60})\s*$/u.test(
      this.#text.slice(this.#at, this.#at + 80),
    );
  }

  #skipBlank(): void {
    this.#at += this.#match(blank)?.[0].length ?? 0;
  }

  #match(pattern: RegExp, at = this.#at): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(this.#text);
  }
}

/**
 * Whether a quote with nothing after it ended the text. It may also belong to code that was cut off: then the text has
 * other quotes or raw line breaks in it, or a round bracket is open.
 */
function isWholeAtEnd(content: string, quote: string, newLine: boolean): boolean {
  const open = content.lastIndexOf('(') > content.lastIndexOf(')');
  const hasQuotes = content === '' || content.replace(/\\[\s\S]/g, '').includes(quote);
  return !open && !hasQuotes && (newLine || !content.includes('\n'));
}

/** Counts brackets character by character, so that a text with many quotes is not counted again at each of them. */
class Brackets {
  #curly = 0;
  #square = 0;

  add(character: string): void {
    if (character === '{') this.#curly += 1;
    else if (character === '}') this.#curly -= 1;
    else if (character === '[') this.#square += 1;
    else if (character === ']') this.#square -= 1;
  }

  /** Whether no bracket in the text so far is still open. */
  get areBalanced(): boolean {
    return this.#curly <= 0 && this.#square <= 0;
  }
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '"': '"',
  "'": "'",
  '`': '`',
  '/': '/',
  '\\': '\\',
};

/** A backslash that escapes nothing known is kept: it is part of a path or a pattern. */
function unescaped(content: string): string {
  return content.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (written, code?: string, letter?: string) =>
    code === undefined ? (escapes[letter ?? ''] ?? written) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** For some texts, the library's time grows with the square of their length. */
const longestRepaired = 10_000;

/**
 * Reads an object that is closed but odd (no colons, quotes that are all escaped, …) with the library. Refused if this
 * would change a text, or if the last brace may be inside a text that was cut off.
 */
function repairedByLibrary(text: string, start: number): LooseObject | null {
  const input = text.slice(start).split(inputEnd)[0] ?? '';
  const source = input.slice(0, input.lastIndexOf('}') + 1);
  const quotes = source.match(/"/g)?.length ?? 0;
  if (source === '' || quotes % 2 === 1 || /\\[^"\\/bfnrtu]/.test(source)) return null;
  const value = repaired(source);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const members = Object.entries(value).map(([name, inner]) => ({ name, text: textOf(inner) }));
  const letters = source.replaceAll('\\', '');
  const isWritten = (inner: string) =>
    letters.includes(JSON.stringify(inner).slice(1, -1).replaceAll('\\', ''));
  if (!members.every((member) => isWritten(member.text))) return null;
  return { members, ending: 'closed', cutMember: null, end: start + source.length, strict: false };
}

function repaired(source: string): unknown {
  if (source.length > longestRepaired) return null;
  try {
    return JSON.parse(jsonrepair(source));
  } catch {
    return null;
  }
}
