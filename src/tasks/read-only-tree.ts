import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Takes the right to write from everybody, for a folder and all in it. @param mask mode bits that may stay */
export function makeReadOnly(folder: string, mask = 0o555): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadOnly(path, mask);
    else if (entry.isFile()) chmodSync(path, 0o444 & mask);
  }
  chmodSync(folder, 0o555 & mask);
}
