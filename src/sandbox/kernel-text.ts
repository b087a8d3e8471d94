import { readFileSync } from 'node:fs';

/** A text of /proc or /sys; empty if there is no such file, its process is gone, or it belongs to somebody else. */
export function kernelText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
