import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256OfFile } from '../../lib/hash.ts';
import { withheldContents } from '../../tasks/index.ts';
import type { TaskResources } from '../workspace.ts';

/** A file that no agent may read. */
export interface Secret {
  /** Absolute path on the host. */
  path: string;
  bytes: number;
  sha256: string;
}

/**
 * Labels, grader, solutions and withheld packages' data. A solution's file that agents see anyway is not a secret;
 * labels always are, even if a task shows them by mistake.
 */
export async function secretsOf({ task, prepared, python }: TaskResources): Promise<Secret[]> {
  const shown = new Set<string>();
  for (const path of filesBelow(task.environmentFolder)) shown.add(await sha256OfFile(path));
  const paths = [...filesBelow(prepared.privateFolder), ...filesBelow(task.hiddenFolder)];
  // Also in decompressed form.
  const secrets: Secret[] = withheldContents(task, python);
  for (const path of paths) {
    const bytes = statSync(path).size;
    const sha256 = await sha256OfFile(path);
    if (bytes > 0 && !shown.has(sha256)) secrets.push({ path, bytes, sha256 });
  }
  return secrets;
}

export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/__pycache__/'))
    .sort();
}
