import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import { hasCode } from '../../lib/errors.ts';

const longestMs = 30_000;

/** Its output; null if there is no such program, or no driver. */
export async function nvidiaSmi(smi: string, words: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(smi, [...words], { timeout: longestMs, encoding: 'utf8' });
    return stdout;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EACCES')) return null;
    // It fails if there is no driver, or if it does not know a field.
    return null;
  }
}

/** Rows of `--query-…=NAMES --format=csv,noheader,nounits`. Rows of another form are left out. */
export function rowsOf<Schema extends z.ZodType>(
  output: string,
  names: readonly string[],
  schema: Schema,
): z.output<Schema>[] {
  return output.split('\n').flatMap((line) => {
    const cells = line.split(',').map((cell) => cell.trim());
    const row = Object.fromEntries(names.map((name, index) => [name, cells[index]]));
    const parsed = schema.safeParse(row);
    return parsed.success ? [parsed.data] : [];
  });
}

export function query(names: readonly string[]): string[] {
  return [`--query-gpu=${names.join(',')}`, '--format=csv,noheader,nounits'];
}

/** `[N/A]`, `[Not Supported]`: null. */
export const smiNumber = z.string().transform((text) => {
  const value = Number(text);
  return text !== '' && Number.isFinite(value) ? value : null;
});
