import { mostOf, type ReadingBudget } from './limits.ts';

/** Why a text was not read. */
export type JsonRefusal = 'nested too deeply' | 'too many values';

/**
 * Reads JSON that may be truncated or damaged anywhere: everything before the first fault is kept. A string or number
 * at the fault itself is left out, so no partial value is taken as complete. Text that would take too much memory is
 * refused.
 */
export function readTornJson(
  text: string,
  budget: ReadingBudget,
): { value: unknown; torn: boolean; refused?: JsonRefusal } {
  const refused = refusalOf(text, budget);
  if (refused !== null) return { value: undefined, torn: true, refused };
  try {
    return { value: JSON.parse(text), torn: false };
  } catch {
    return { value: new TornReader(text).read(), torn: true };
  }
}

/** Counts values outside of strings, before anything is parsed. */
function refusalOf(text: string, budget: ReadingBudget): JsonRefusal | null {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: // A text: to its end.
        for (at += 1; at < text.length && text.charCodeAt(at) !== 0x22; at += 1)
          if (text.charCodeAt(at) === 0x5c) at += 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        values += 1;
        if (depth > mostOf.depth) return 'nested too deeply';
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2c: // ,
        values += 1;
    }
  }
  budget.values -= values;
  return budget.values < 0 ? 'too many values' : null;
}

/** A value is attached to its parent before it is complete, so that a fault inside loses nothing before it. */
class TornReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    let root: unknown;
    try {
      this.#value((value) => {
        root = value;
      });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
    return root;
  }

  #value(keep: (value: unknown) => void): void {
    const next = this.#peek();
    if (next === '{') this.#object(keep);
    else if (next === '[') this.#array(keep);
    else if (next === '"') keep(this.#string());
    else keep(this.#word());
  }

  #object(keep: (value: unknown) => void): void {
    const object: Record<string, unknown> = {};
    keep(object);
    this.#at += 1;
    for (let isFirst = true; ; isFirst = false) {
      if (isFirst && this.#peek() === '}') break;
      if (this.#peek() !== '"') throw new Fault();
      const name = this.#string();
      this.#expect(':');
      // A plain assignment to `__proto__` would set the prototype.
      const property = { enumerable: true, configurable: true, writable: true };
      this.#value((value) => void Object.defineProperty(object, name, { ...property, value }));
      if (this.#peek() !== ',') break;
      this.#at += 1;
    }
    this.#expect('}');
  }

  #array(keep: (value: unknown) => void): void {
    const array: unknown[] = [];
    keep(array);
    this.#at += 1;
    for (let isFirst = true; ; isFirst = false) {
      if (isFirst && this.#peek() === ']') break;
      this.#value((value) => void array.push(value));
      if (this.#peek() !== ',') break;
      this.#at += 1;
    }
    this.#expect(']');
  }

  #string(): string {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    const token = this.#text.slice(this.#at, end + 1);
    const value = parsed(token);
    if (typeof value !== 'string') throw new Fault();
    this.#at = end + 1;
    return value;
  }

  /** A number, true, false or null; it counts only if something follows it. */
  #word(): unknown {
    const word = /[^\s,\]}]*/y;
    word.lastIndex = this.#at;
    const [token = ''] = word.exec(this.#text) ?? [];
    const value = parsed(token);
    if (value === undefined || this.#at + token.length >= this.#text.length) throw new Fault();
    this.#at += token.length;
    return value;
  }

  #peek(): string | undefined {
    const space = /[ \t\r\n]*/y;
    space.lastIndex = this.#at;
    this.#at += space.exec(this.#text)?.[0].length ?? 0;
    return this.#text[this.#at];
  }

  #expect(character: string): void {
    if (this.#peek() !== character) throw new Fault();
    this.#at += 1;
  }
}

class Fault extends Error {}

function parsed(token: string): unknown {
  try {
    return JSON.parse(token);
  } catch {
    return undefined;
  }
}
