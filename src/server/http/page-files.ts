import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface PageFile {
  type: string;
  content: Buffer;
  /** Whether its name contains a hash of its content. */
  lasts: boolean;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
};

/** The built pages, read once: nothing else is served. Empty if they are not built. */
export function readPageFiles(folder: string): Map<string, PageFile> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && types[extname(entry.name)] !== undefined)
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  return new Map(
    names.map((name) => [
      name === 'index.html' ? '/' : `/${name}`,
      {
        type: types[extname(name)] ?? 'application/octet-stream',
        content: readFileSync(join(folder, name)),
        lasts: name.startsWith('assets/'),
      },
    ]),
  );
}
