import { isUtf8 } from 'node:buffer';

/**
 * File names are bytes, JSON contains text. A name in UTF-8 is its own text; a byte that belongs to no UTF-8 sequence
 * becomes the lone surrogate U+DC00 + byte, as in Python's `os.fsdecode`. Nothing is lost and nothing collides, because
 * UTF-8 itself can't express a surrogate; JSON writes it as `\udcXX`.
 */
export function decodeName(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    text +=
      length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + length);
    at += Math.max(length, 1);
  }
  return text;
}

/** Length of the UTF-8 sequence that starts here; 0 when none does. */
function sequenceLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}

/**
 * The bytes of a name or path in the form that Node's file functions take: a string if that is the same. Null for text
 * that no name decodes to, so that two texts never mean one file.
 */
export function encodePath(text: string): string | Buffer | null {
  if (text.isWellFormed()) return text;
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xdc80 && code <= 0xdcff) parts.push(Buffer.of(code - 0xdc00));
    else if (code >= 0xd800 && code <= 0xdfff) return null;
    else parts.push(Buffer.from(character, 'utf8'));
  }
  const bytes = Buffer.concat(parts);
  return decodeName(bytes) === text ? bytes : null;
}

/**
 * Characters that JSON leaves unescaped but terminals obey: further control characters, and those that change the
 * direction of text.
 */
const unshown = /[\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** One line for people: control characters and stray bytes are escaped as in JSON. */
export function showPath(path: string): string {
  const json = JSON.stringify(path).replaceAll(
    unshown,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return json.length === path.length + 2 && path.isWellFormed() ? path : json;
}
