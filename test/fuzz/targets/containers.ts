import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const mark = /^=== ([^\n\0]{1,200})\n/gm;

/** Several files in one input: each begins with a line `=== path`. Text before the first one belongs to none. */
export function filesIn(input: Buffer): { path: string; content: Buffer }[] {
  const text = input.toString('latin1');
  const marks = [...text.matchAll(mark)];
  return marks.map((match, index) => {
    const end = marks[index + 1]?.index ?? text.length;
    const path = Buffer.from(match[1] ?? '', 'latin1').toString('utf8');
    return { path, content: input.subarray(match.index + match[0].length, end) };
  });
}

/** The files as one input: the inverse of `filesIn`. */
export function filesAsInput(files: Readonly<Record<string, string>>): string {
  return Object.entries(files)
    .map(([path, content]) => `=== ${path}\n${content}${content.endsWith('\n') ? '' : '\n'}`)
    .join('');
}

/** Writes the files to a newly created folder, as far as their paths are valid and stay inside. */
export function writeFilesIn(
  input: Buffer,
  folder: string,
  change = (_: string, content: Buffer) => content,
): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { path, content } of filesIn(input)) {
    if (path.split('/').some((part) => part === '..' || part === '' || part.length > 200)) continue;
    try {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), change(path, content));
    } catch {
      // A file instead of a folder, or a name that the system does not accept.
    }
  }
}

/** Throws if a target breaks a guarantee. */
export function hold(promise: boolean, what: string): asserts promise {
  if (!promise) throw new Error(`broken promise: ${what}`);
}
