/** A part of a text, for a model to read. */
export interface Block {
  text: string;
  /** Line numbers, from 1; a line that is longer than a block spans several blocks. */
  first: number;
  last: number;
}

/** Cuts a text into parts of at most `size` characters, at line breaks if possible; joined, they are the text. */
export function blocksOf(text: string, size: number): Block[] {
  const blocks: Block[] = [];
  let line = 1;
  for (let start = 0; start < text.length; ) {
    const end = blockEnd(text, start, size);
    const part = text.slice(start, end);
    const breaks = part.split('\n').length - 1;
    const isComplete = part.endsWith('\n');
    blocks.push({ text: part, first: line, last: line + breaks - (isComplete ? 1 : 0) });
    line += breaks;
    start = end;
  }
  return blocks;
}

/** The text with a number before each of its lines. */
export function numbered({ text, first }: Block): string {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => `${first + index}: ${line}`).join('\n');
}

function blockEnd(text: string, start: number, size: number): number {
  if (text.length - start <= size) return text.length;
  const lineBreak = text.lastIndexOf('\n', start + size - 1);
  if (lineBreak >= start) return lineBreak + 1;
  const end = start + size;
  const unit = text.charCodeAt(end);
  // Not within a surrogate pair.
  return unit >= 0xdc00 && unit <= 0xdfff && size > 1 ? end - 1 : end;
}
