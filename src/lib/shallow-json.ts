/** Deeper than anyone needs; recursion through thousands of levels overflows the stack. */
const deepest = 200;
/** Stored documents contain other people's values inside our own: a value that was accepted must be readable again. */
export const deepestStored = deepest + 100;

/**
 * Parses JSON from others. Values nested too deeply are refused like invalid JSON, because code that walks or
 * serialises them is recursive.
 * @throws SyntaxError
 */
export function parseShallowJson(text: string, levels = deepest): unknown {
  if (shapeOf(text, levels).isTooDeep) throw new SyntaxError(`it is nested more than ${levels} levels deep`);
  return JSON.parse(text);
}

/** Whether a parsed value can be walked recursively. */
export function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((each) => isShallow(each, levels - 1));
}

/**
 * The same as `parseShallowJson`, also limiting the number of values: each takes fifty times as much memory as its two bytes.
 * @throws SyntaxError
 */
export function parseSmallJson(text: string, maxValues: number): unknown {
  const { isTooDeep, values } = shapeOf(text, deepest);
  if (isTooDeep) throw new SyntaxError(`it is nested more than ${deepest} levels deep`);
  if (values > maxValues) throw new SyntaxError(`it holds more than ${maxValues} values`);
  return JSON.parse(text);
}

/** For text that is not JSON the result is meaningless. */
function shapeOf(text: string, levels: number): { isTooDeep: boolean; values: number } {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: // A text: to its end.
        at = endOfText(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        values += 1;
        if (depth > levels) return { isTooDeep: true, values };
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
        break;
      case 0x2c: // ,
        values += 1;
    }
  }
  return { isTooDeep: false, values };
}

/** The index of the quote that ends a text, or of the last character. */
function endOfText(text: string, start: number): number {
  for (let at = start; ; ) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return text.length;
    let escapes = 0;
    while (text.charCodeAt(at - escapes - 1) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
}
