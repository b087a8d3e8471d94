import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { messageOf, UserError } from '../lib/errors.ts';
import { Grade } from '../schema/index.ts';
import { parseStoredText, readTextIfThere } from './documents.ts';

export interface StoredGrades {
  grades: Grade[];
  /** Lines that hold no grade, such as one that a killed process left half written. */
  problems: string[];
}

/** Adds one line, flushed to the disk. A torn line before it gets its line break and stays a line that is no grade. */
export function appendGrade(path: string, grade: Grade): void {
  const line = `${JSON.stringify(Grade.parse(grade))}\n`;
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o644);
  try {
    const bytes = Buffer.from(endsInsideLine(descriptor) ? `\n${line}` : line);
    const written = writeSync(descriptor, bytes);
    if (written < bytes.length)
      throw new Error(`${path}: only ${written} of ${bytes.length} bytes were written`);
    fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Empty when there is no file.
 * @throws UserError `future_version`
 */
export function readGrades(path: string): StoredGrades {
  const grades: Grade[] = [];
  const problems: string[] = [];
  for (const [index, line] of (readTextIfThere(path) ?? '').split('\n').entries()) {
    if (line === '') continue;
    try {
      grades.push(parseStoredText(Grade, line, `${path}, line ${index + 1},`));
    } catch (error) {
      if (UserError.isInstance(error) && error.code === 'future_version') throw error;
      problems.push(messageOf(error));
    }
  }
  return { grades, problems };
}

function endsInsideLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}
