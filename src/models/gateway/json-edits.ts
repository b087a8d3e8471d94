/** A part of a text, from one index up to another. */
export interface Span {
  from: number;
  to: number;
}

export interface JsonEdit extends Span {
  text: string;
}

/** A member of an object: from its name to the end of its value. */
export interface JsonMember extends Span {
  value: Span;
}

/**
 * The text with these edits; everything else stays byte for byte the same. What is inserted where something else is
 * replaced comes before it.
 * @throws Error if edits overlap
 */
export function withEdits(text: string, edits: readonly JsonEdit[]): string {
  const inOrder = edits.toSorted((a, b) => a.from - b.from || a.to - b.to);
  let result = '';
  let at = 0;
  for (const edit of inOrder) {
    if (edit.from < at) throw new Error('edits of a text overlap');
    result += text.slice(at, edit.from) + edit.text;
    at = edit.to;
  }
  return result + text.slice(at);
}

/**
 * The positions of the members of the object that begins here. Of two members with the same name, the later one counts,
 * as in `JSON.parse`; `isAmbiguous` then says that others may read it differently.
 * @param text valid JSON
 */
export function membersOf(
  text: string,
  from = 0,
): { members: Map<string, JsonMember>; isAmbiguous: boolean } {
  const members = new Map<string, JsonMember>();
  let isAmbiguous = false;
  let at = afterSpace(text, afterSpace(text, from) + 1);
  while (text[at] === '"') {
    const nameEnd = stringEnd(text, at);
    const name = String(JSON.parse(text.slice(at, nameEnd)));
    const value = valueAt(text, afterSpace(text, afterSpace(text, nameEnd) + 1));
    isAmbiguous ||= members.has(name);
    members.set(name, { from: at, to: value.to, value });
    at = afterComma(text, value.to);
  }
  return { members, isAmbiguous };
}

/** The positions of the elements of the list that begins here. */
export function elementsOf(text: string, from: number): Span[] {
  const elements: Span[] = [];
  let at = afterSpace(text, afterSpace(text, from) + 1);
  while (at < text.length && text[at] !== ']') {
    const element = valueAt(text, at);
    elements.push(element);
    at = afterComma(text, element.to);
  }
  return elements;
}

/**
 * Cuts an object's text into pieces that end where an element of one of its lists ends, so that all but the new pieces
 * of a growing conversation recur.
 * @param text valid JSON
 */
export function jsonPieces(text: string): string[] {
  const lists = [...membersOf(text).members.values()].filter(({ value }) => text[value.from] === '[');
  const ends = lists.flatMap(({ value }) => elementsOf(text, value.from).map(({ to }) => to));
  return [0, ...ends].map((from, place) => text.slice(from, ends[place])).filter((piece) => piece !== '');
}

function afterComma(text: string, from: number): number {
  const at = afterSpace(text, from);
  return text[at] === ',' ? afterSpace(text, at + 1) : at;
}

function valueAt(text: string, from: number): Span {
  const first = text[from];
  if (first === '"') return { from, to: stringEnd(text, from) };
  if (first !== '{' && first !== '[') {
    let at = from;
    while (at < text.length && !/[\s,\]}]/.test(text.charAt(at))) at += 1;
    return { from, to: at };
  }
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const mark = text.charCodeAt(at);
    if (mark === 0x22) at = stringEnd(text, at) - 1;
    else if (mark === 0x7b || mark === 0x5b) depth += 1;
    else if (mark === 0x7d || mark === 0x5d) {
      depth -= 1;
      if (depth === 0) return { from, to: at + 1 };
    }
  }
  return { from, to: text.length };
}

function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at + 1;
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text.charAt(at))) at += 1;
  return at;
}
