/** The last whole lines of a text, at most so many characters; of a longer line, its end. */
export function lastLines(text: string, most: number): string {
  const trimmed = text.trim();
  if (trimmed.length <= most) return trimmed;
  const end = trimmed.slice(-most);
  return `…\n${end.slice(end.indexOf('\n') + 1)}`;
}
