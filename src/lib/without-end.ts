/**
 * A text without those of the given characters that end it. A pattern such as `/x+$/` tries again after each `x`
 * elsewhere in the text, which takes quadratic time for a long row of them.
 */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
