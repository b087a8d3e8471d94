import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const setting = '/sys/module/page_reporting/parameters/page_reporting_order';
/** Larger than any block of free pages, so that none is given back. */
const never = '11';
const balloons = '/sys/bus/virtio/drivers/virtio_balloon';
/** VIRTIO_BALLOON_F_REPORTING. */
const reporting = 5;
/** Of the free memory: the kernel chooses which pages it takes first. */
const share = 0.85;

/**
 * A virtual machine gets a page of memory from its host when it first uses it, and may give free ones back within seconds:
 * then whatever needs new pages, such as new files, takes up to four times as long. As root, uses nearly all free pages
 * once, and keeps them until disposal; does nothing where no page is given back.
 */
export function keepFreeMemory(log: (line: string) => void): Disposable {
  let before: string;
  try {
    const devices = readdirSync(balloons).filter((name) => /^virtio\d/.test(name));
    const features = devices.map((name) => readFileSync(join(balloons, name, 'features'), 'latin1'));
    before = readFileSync(setting, 'latin1').trim();
    if (features.some((bits) => bits[reporting] === '1')) writeFileSync(setting, never);
    else return { [Symbol.dispose]: () => {} };
  } catch {
    // No such device or setting, or this user may not change it.
    return { [Symbol.dispose]: () => {} };
  }
  const bytes = share * freemem();
  log(`using ${(bytes / 1e9).toFixed(0)} GB of memory once`);
  const use = `for (let left = ${bytes}; left > 0; left -= 2 ** 28) (globalThis.kept ??= []).push(Buffer.alloc(2 ** 28, 1));`;
  spawnSync(process.execPath, ['--eval', use]);
  return { [Symbol.dispose]: () => writeFileSync(setting, before) };
}
