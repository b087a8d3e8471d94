import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';
import { messageOf, UserError } from '../lib/errors.ts';
import { parseStoredText, readTextIfThere } from './documents.ts';

export interface StoredLines<Value> {
  values: Value[];
  /** Lines that are not such a value, such as one that a killed process left half written. */
  problems: string[];
}

/**
 * Adds one line, flushed to disk. A torn line before it gets its line break and stays invalid.
 * @throws file-system errors, such as ENOSPC, which may leave a torn line
 */
export function appendStoredLine(path: string, value: object): void {
  const line = `${JSON.stringify(value)}\n`;
  const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o644);
  try {
    const bytes = Buffer.from(endsInsideLine(descriptor) ? `\n${line}` : line);
    // Not writeSync, which silently writes only a part when the disk gets full.
    writeFileSync(descriptor, bytes);
    fdatasyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Empty if there is no file.
 * @throws UserError `future_version`
 */
export function readStoredLines<Schema extends z.ZodType>(
  schema: Schema,
  path: string,
): StoredLines<z.output<Schema>> {
  const values: z.output<Schema>[] = [];
  const problems: string[] = [];
  for (const [index, line] of (readTextIfThere(path) ?? '').split('\n').entries()) {
    if (line === '') continue;
    try {
      values.push(parseStoredText(schema, line, `${path}, line ${index + 1},`));
    } catch (error) {
      if (UserError.isInstance(error) && error.code === 'future_version') throw error;
      problems.push(messageOf(error));
    }
  }
  return { values, problems };
}

function endsInsideLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}
