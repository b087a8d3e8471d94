import { readFileSync } from 'node:fs';

/** A text of /proc or /sys; empty if there is no such file, its process is gone, or it belongs to somebody else. */
export function kernelText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** A number of a text with one `name: number` per line; 0 if it has no such line. */
export function kernelField(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? 0);
}
