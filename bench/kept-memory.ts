import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';

const setting = '/sys/module/page_reporting/parameters/page_reporting_order';
/** Larger than any block of free pages, so that none is given back. */
const never = '11';
/** Of the free memory: the kernel chooses which pages it takes first. */
const share = 0.85;

/**
 * A virtual machine gets a page of memory from its host when it first uses it, and may give free ones back within seconds:
 * then whatever needs new pages, such as new files, takes up to four times as long. As root, uses nearly all free pages
 * once, and keeps them until disposal; does nothing where no page is given back.
 */
export function keepFreeMemory(log: (line: string) => void): Disposable {
  const before = settingIn(setting);
  if (before === null) return { [Symbol.dispose]: () => {} };
  const bytes = share * freemem();
  log(`using ${(bytes / 1e9).toFixed(0)} GB of memory once`);
  writeFileSync(setting, never);
  const use = `for (let left = ${bytes}; left > 0; left -= 2 ** 28) (globalThis.kept ??= []).push(Buffer.alloc(2 ** 28, 1));`;
  execFileSync(process.execPath, ['--eval', use]);
  return { [Symbol.dispose]: () => writeFileSync(setting, before) };
}

/** Null if this kernel has no such setting, or this user may not change it. */
function settingIn(file: string): string | null {
  if (process.getuid?.() !== 0) return null;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}
