/** A text of at most about so many characters. A notice replaces the part of its middle that is left out. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil(most * 0.6);
  const tail = most - head;
  const notice = `[… ${text.length - most} characters left out …]`;
  // A cut may split a surrogate pair.
  return `${text.slice(0, head)}\n${notice}\n${text.slice(text.length - tail)}`.toWellFormed();
}
