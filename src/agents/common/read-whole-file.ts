import type { Workspace } from './workspace.ts';

/** Read File cuts files of more than about 20,000 characters; shorter answers are complete. */
const surelyWhole = 18_000;
/** In an answer that was cut, this much at either end is certainly text of the file. */
const surelyText = 4_000;
const blockLines = 100;
/** A file with more blocks is not a starter script, and reading on would use up the budget. */
const maxBlocks = 15;

/** The text of a file of any length, or why it could not be read. */
export type WholeFile = { text: string } | { problem: string };

/** Reads a file in one step or, if it is too long for that, in blocks of lines. */
export async function readWholeFile(workspace: Workspace, path: string): Promise<WholeFile> {
  const read = await workspace.readFile(path);
  if (read.status !== 'ok') return { problem: `reading ${path} ended as ${read.status}` };
  if (read.observation.length <= surelyWhole) return { text: read.observation };
  const lines: string[] = [];
  let areNumbered = false;
  for (let block = 0; block < maxBlocks && !workspace.ended; block += 1) {
    const first = lines.length + 1;
    const inspected = await workspace.inspectLines(path, first, first + blockLines - 1);
    if (inspected.status !== 'ok') break;
    const numbered = numberedLines(inspected.observation, first);
    areNumbered ||= numbered !== null;
    // After numbered lines, an answer without any means that the file has ended.
    const added = numbered ?? (areNumbered ? [] : plainLines(inspected.observation, lines, read.observation));
    lines.push(...added.slice(0, blockLines));
    if (added.length < blockLines) break;
  }
  const text = lines.join('\n');
  // The answer may end with a note on the file's size, which is not a line of the file.
  const remark = /\n\[[^\n]*\]\s*$/.exec(read.observation)?.[0] ?? '';
  const isRemark = remark !== '' && !text.trimEnd().endsWith(remark.trimEnd());
  return confirmed(text, isRemark ? read.observation.slice(0, -remark.length) : read.observation, path);
}

/** The lines of an answer such as `12: text`, without their numbers; null if they are not numbered like this. */
function numberedLines(answer: string, first: number): string[] | null {
  const found: string[] = [];
  let separator = '';
  for (const line of answer.split('\n')) {
    const match = /^\s*(\d+)( ?[:|→\t] ?| {1,2})?(.*)$/s.exec(line);
    if (match === null || Number(match[1]) !== first + found.length) continue;
    const [, , mark = '', rest = ''] = match;
    if (found.length === 0) separator = mark;
    if (separator === '') return null;
    // An empty line may have lost the blanks at the end of its separator.
    const text = mark === separator ? rest : `${mark}${rest}`.slice(separator.trimEnd().length);
    found.push(text);
  }
  return found.length === 0 ? null : found;
}

/** The lines of an answer without numbers. A heading, if there is one, is a line that the file does not have there. */
function plainLines(answer: string, before: readonly string[], cutText: string): string[] {
  const lines = answer.split('\n');
  if (before.length > 0 || cutText.startsWith(lines.slice(0, 3).join('\n'))) return lines;
  return lines.slice(1);
}

/** Checks the assembled text against the two ends of the file that are known. */
function confirmed(text: string, cutText: string, path: string): WholeFile {
  const head = cutText.slice(0, surelyText);
  const tail = cutText.slice(-surelyText).trimEnd();
  const whole = text.startsWith(head) && text.trimEnd().endsWith(tail);
  if (!whole) return { problem: `${path} is too long to be read whole` };
  // Answers differ in how they end. The text is ended as in the answer that read the file as one text.
  return { text: text.trimEnd() + cutText.slice(cutText.trimEnd().length) };
}
