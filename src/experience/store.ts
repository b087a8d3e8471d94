import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { parsedAs } from '../lib/json-values.ts';
import { ExperienceEntry } from '../schema/index.ts';

/** The store's name in a folder. */
export const experienceName = 'experience.jsonl';

/** The path of a store, given as a file or as the folder that contains it. */
export function experiencePath(given: string): string {
  const isFolder = statSync(given, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? join(given, experienceName) : given;
}

/** The content of a store: each entry once, in the order of the lines, and the numbers of unreadable lines. */
export interface StoredEntries {
  entries: ExperienceEntry[];
  broken: number[];
}

/**
 * Reads a store. A truncated line does not affect others.
 * @throws UserError `no_experience` if there is no such file, `bad_experience` if none of its lines can be read
 */
export function readEntries(path: string): StoredEntries {
  if (!existsSync(path)) {
    throw new UserError(
      'no_experience',
      `There is no experience in ${path}.`,
      'Collect it from finished runs with: mlab experience add EXPERIMENT',
    );
  }
  const stored = parseEntries(readFileSync(path, 'utf8'));
  if (stored.entries.length > 0 || stored.broken.length === 0) return stored;
  throw new UserError(
    'bad_experience',
    `${path} holds no experience: no line can be read.`,
    'Give a file that mlab experience add has written.',
  );
}

function parseEntries(text: string): StoredEntries {
  const entries = new Map<string, ExperienceEntry>();
  const broken: number[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const entry = parsedAs(ExperienceEntry, line);
    if (entry === null) broken.push(index + 1);
    else if (!entries.has(entry.id)) entries.set(entry.id, entry);
  }
  return { entries: [...entries.values()], broken };
}

/** Appends new entries, in one write, and returns their number. */
export function addEntries(path: string, entries: readonly ExperienceEntry[]): number {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const known = new Set(parseEntries(before).entries.map(({ id }) => id));
  const fresh = new Map(entries.filter(({ id }) => !known.has(id)).map((entry) => [entry.id, entry]));
  if (fresh.size === 0) return 0;
  mkdirSync(dirname(path), { recursive: true });
  const lines = [...fresh.values()].map((entry) => `${JSON.stringify(ExperienceEntry.parse(entry))}\n`);
  // A truncated last line stays one invalid line.
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  appendFileSync(path, gap + lines.join(''));
  return fresh.size;
}
