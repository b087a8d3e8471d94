import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { hasCode, UserError } from '../lib/errors.ts';
import { linkDraft } from '../lib/new-file.ts';
import { readRegularFile } from '../lib/regular-file.ts';
import { deepestStored, parseShallowJson } from '../lib/shallow-json.ts';

const currentVersion = 3;

/**
 * Parses a value of the store.
 * @param where file, and line if there is one, for messages
 * @throws UserError `future_version` if a newer version wrote it, `broken_file` if it does not fit the schema.
 */
export function parseStored<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: string,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  refuseFutureVersion(value, where);
  throw new UserError(
    'broken_file',
    `${where} is not as expected: ${describeIssue(parsed.error)}`,
    'Restore the file from a backup, or delete the run and start it again.',
    { cause: parsed.error },
  );
}

/** As `parseStored`, from JSON text. JSON that is nested too deeply to be serialised again counts as invalid. */
export function parseStoredText<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  where: string,
): z.output<Schema> {
  let value: unknown;
  try {
    value = parseShallowJson(text, deepestStored);
  } catch (error) {
    throw new UserError(
      'broken_file',
      `${where} is not JSON`,
      'Restore the file from a backup, or delete the run and start it again.',
      { cause: error },
    );
  }
  return parseStored(schema, value, where);
}

function refuseFutureVersion(value: unknown, where: string): void {
  const version = z.looseObject({ v: z.number() }).safeParse(value);
  if (!version.success || version.data.v <= currentVersion) return;
  throw new UserError(
    'future_version',
    `${where} was written by a newer mlab: it has version ${version.data.v}, and this one reads up to version ${currentVersion}`,
    'Use the mlab that wrote it, or a newer one.',
  );
}

function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return error.message;
  const field = issue.path.map(String).join('.');
  return field ? `field "${field}": ${issue.message}` : issue.message;
}

/** Far above the size of any document of the store: shared experiment folders may contain anything. */
const maxBytes = 2 ** 28;

/** The text of a file; null if there is none. */
export function readTextIfThere(path: string): string | null {
  try {
    return readRegularFile(path, maxBytes, { follow: true }).toString('utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/**
 * Creates a file with its whole content atomically. False if it exists already.
 * @param flush protects against a power cut
 */
export function createFileExclusively(path: string, content: string, { flush = true } = {}): boolean {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, content, { flag: 'wx', flush });
    return linkDraft(temporary, path, content);
  } finally {
    rmSync(temporary, { force: true });
  }
}
