import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { sha256OfFile } from '../lib/hash.ts';

const Entry = z.union([
  z.object({ path: z.string(), bytes: z.int(), modified: z.number(), sha256: z.string() }),
  z.object({ gone: z.string(), why: z.string() }),
]);
type Entry = z.infer<typeof Entry>;

export interface Described {
  /** Absolute. */
  path: string;
  bytes: number;
  sha256: string;
}

/**
 * What is known of a task's downloads: checksums, so that no content is read twice, and which files are missing at
 * their source, so that not every run requests them. Each fact is appended as a line; a torn line is ignored.
 */
export class FileIndex {
  private readonly path: string | null;
  private readonly hashes = new Map<string, Described & { modified: number }>();
  private readonly gone = new Set<string>();

  /** @param path absolute path of the index file, which need not exist; null: nothing is stored */
  constructor(path: string | null) {
    this.path = path;
    if (path === null) return;
    for (const line of readLines(path)) this.learn(line);
  }

  /** A file's size and checksum; null if it does not exist. */
  async describe(path: string): Promise<Described | null> {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile()) return null;
    const found = { path, bytes: stat.size, modified: Math.floor(stat.mtimeMs) };
    const known = this.hashes.get(path);
    if (known?.bytes === found.bytes && known.modified === found.modified) return known;
    const entry = { ...found, sha256: await sha256OfFile(path) };
    this.hashes.set(path, entry);
    this.append(entry);
    return entry;
  }

  isGone(file: string): boolean {
    return this.gone.has(file);
  }

  markGone(file: string, why: string): void {
    if (this.gone.has(file)) return;
    this.gone.add(file);
    this.append({ gone: file, why });
  }

  private learn(line: string): void {
    try {
      const entry = Entry.parse(JSON.parse(line));
      if ('gone' in entry) this.gone.add(entry.gone);
      else this.hashes.set(entry.path, entry);
    } catch {
      // Torn: the file is hashed, or requested, again.
    }
  }

  private append(entry: Entry): void {
    if (this.path === null) return;
    mkdirSync(dirname(this.path), { recursive: true });
    // The line break comes first, because a killed process may have left a line without one.
    appendFileSync(this.path, `\n${JSON.stringify(entry)}`);
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
