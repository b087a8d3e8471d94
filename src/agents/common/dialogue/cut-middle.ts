/** A text of at most about so many characters: what is too much is left out of its middle, and that is said. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil(most * 0.6);
  const tail = most - head;
  const notice = `[… ${text.length - most} characters left out …]`;
  // A cut may go through the middle of a character.
  return `${text.slice(0, head)}\n${notice}\n${text.slice(text.length - tail)}`.toWellFormed();
}
