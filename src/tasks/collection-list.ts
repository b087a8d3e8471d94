import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import type { Collection } from '../schema/index.ts';

/** One file of a collection, as the task's script lists it. */
const ListedFile = z.strictObject({
  file: z.string().regex(/^\w[\w.-]{0,199}$/, 'a plain file name of letters, digits, "_", "-" and "."'),
  urls: z.array(z.url()).min(1).max(4).describe('its addresses, in the order in which they are tried'),
});
export type ListedFile = z.infer<typeof ListedFile>;

const listBytesMax = 256 * 2 ** 20;

/**
 * Reads the output of a list script: one JSON object per line. It is untrusted, as it repeats what a download says.
 * Sorted by name.
 * @throws UserError that names the line and the reason
 */
export function readCollectionList(path: string, collection: Collection): ListedFile[] {
  const refuse = (message: string) =>
    new UserError('bad_list', `the list of ${collection.list}: ${message}`, 'fix the script, or its source');
  const lines = linesOf(path, refuse);
  if (lines.length === 0) throw refuse('it names no files');
  if (lines.length > collection.files_max)
    throw refuse(`${lines.length} files are more than files_max (${collection.files_max})`);
  const files = new Map<string, ListedFile>();
  lines.forEach((line, index) => {
    try {
      const listed = ListedFile.parse(JSON.parse(line));
      const reason = judge(listed, collection);
      if (reason !== null) throw new Error(reason);
      // Names that differ only in case are the same on some disks.
      const name = listed.file.toLowerCase();
      if (files.has(name)) throw new Error(`${listed.file} is named twice`);
      files.set(name, listed);
    } catch (error) {
      throw refuse(
        `line ${index + 1}: ${error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)}`,
      );
    }
  });
  return [...files.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
}

function linesOf(path: string, refuse: (message: string) => UserError): string[] {
  try {
    if (statSync(path).size > listBytesMax) throw refuse('it is larger than 256 MiB');
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw refuse('the script wrote none');
    throw error;
  }
}

/** Why a file may not be fetched; null if it may. */
function judge({ file, urls }: ListedFile, { hosts }: Collection): string | null {
  if (/\.part(\.json)?$/i.test(file)) return `${file} is named like a download under way`;
  for (const url of urls.map((text) => new URL(text))) {
    if (!/^https?:$/.test(url.protocol)) return `${file} is at ${url.protocol}, not http or https`;
    if (url.username !== '' || url.password !== '') return `the address of ${file} holds a password`;
    if (!hosts.includes(url.hostname))
      return `${file} is at ${url.hostname}, which is not one of the allowed hosts`;
  }
  return null;
}
