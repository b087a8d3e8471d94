import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const setting = '/sys/module/page_reporting/parameters/page_reporting_order';
/** Larger than any block of free pages, so that none is given back. */
const never = '11';

/**
 * A virtual machine gets a page of memory from its host when it first uses it, and may give free ones back within seconds:
 * then whatever needs new pages, such as new files, takes up to four times as long. As root, keeps free pages until
 * disposal, after so many bytes were used once; does nothing where no page is given back.
 */
export function keepFreeMemory(bytes: number): Disposable {
  const before = settingIn(setting);
  if (before === null) return { [Symbol.dispose]: () => {} };
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
