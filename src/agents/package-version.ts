import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { z } from 'zod';

const Manifest = z.object({ name: z.string(), version: z.string() });
const Lock = z.object({ packages: z.record(z.string(), z.object({ integrity: z.string().optional() })) });

/**
 * The npm package that a file belongs to: name@version, and npm's integrity if its lock has it; undefined for a file
 * outside any package.
 */
export function packageVersion(path: string): string | undefined {
  const packages = `${sep}node_modules${sep}`;
  const at = path.lastIndexOf(packages);
  if (at === -1) return undefined;
  const [first = '', second = ''] = path.slice(at + packages.length).split(sep);
  const name = first.startsWith('@') ? `${first}/${second}` : first;
  const folder = join(path.slice(0, at), 'node_modules', name);
  const manifest = read(Manifest, join(folder, 'package.json'));
  if (manifest === null) return name;
  const integrity = lockedIntegrity(folder);
  return `${manifest.name}@${manifest.version}${integrity === undefined ? '' : ` ${integrity}`}`;
}

/** From npm's record of the installation: the lock is in the outermost `node_modules`. */
function lockedIntegrity(folder: string): string | undefined {
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above)) {
    const lock = join(above, 'node_modules/.package-lock.json');
    if (!existsSync(lock)) continue;
    const key = folder.slice(above.length + 1).replaceAll(sep, '/');
    return read(Lock, lock)?.packages[key]?.integrity;
  }
  return undefined;
}

function read<Schema extends z.ZodType>(schema: Schema, path: string): z.infer<Schema> | null {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}
