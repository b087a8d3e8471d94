import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import { hasCode, UserError } from '../../lib/errors.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { mostOf, type ReadingBudget } from './limits.ts';

/** The text of a file, uncompressed if its name ends in `.gz`. Null if it is missing or can't be read. */
export function readText(path: string, budget: ReadingBudget, gaps: string[]): string | null {
  const name = basename(path);
  const most = Math.min(mostOf.file, budget.bytes);
  try {
    const bytes = readRegularFile(path, most);
    const content = name.endsWith('.gz') ? unfolded(bytes, most, name, gaps) : bytes;
    budget.bytes -= content.length;
    return content.toString('utf8');
  } catch (error) {
    if (isTooLarge(error)) gaps.push(`${name} too large`);
    else if (existsSync(path)) gaps.push(`${name} unreadable`);
    return null;
  }
}

/** As far as it can be read. */
function unfolded(bytes: Buffer, most: number, name: string, gaps: string[]): Buffer {
  const limit = { maxOutputLength: Math.max(most, 1) };
  try {
    return gunzipSync(bytes, limit);
  } catch (error) {
    if (isTooLarge(error)) throw error;
    gaps.push(`${name} torn`);
    return gunzipSync(bytes, { ...limit, finishFlush: constants.Z_SYNC_FLUSH });
  }
}

function isTooLarge(error: unknown): boolean {
  return (
    hasCode(error, 'ERR_BUFFER_TOO_LARGE') || (UserError.isInstance(error) && error.code === 'file_too_large')
  );
}

/** The lines of a text, one by one, without creating all of them at once. */
export function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf('\n', from);
    yield end < 0 ? text.slice(from) : text.slice(from, end);
    if (end < 0) return;
    from = end + 1;
  }
}
