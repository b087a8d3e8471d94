import { statSync } from 'node:fs';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { kernelField, kernelText } from './kernel-text.ts';

/** Of all processes of a command together; more are suspicious. */
const maxMappings = 100_000;
const mappingsPerTurn = 500;
/** A line of `maps`: from, to, offset and inode of memory that processes share without a file. */
const sharedMapping =
  /^0*([0-9a-f]+)-0*([0-9a-f]+) \S+ ([0-9a-f]+) \S+ (\d+) +(?:\/dev\/zero \(deleted\)|\/memfd:|\/SYSV|\[anon_shmem:)/gm;

/** What the whole machine holds in shared mappings and memory file systems, at most: all that is swapped out counts. */
export function machineSharedBytes(): number {
  const memory = kernelText('/proc/meminfo');
  const swapped = kernelField(memory, 'SwapTotal') - kernelField(memory, 'SwapFree');
  return (kernelField(memory, 'Shmem') + swapped) * 1024;
}

/**
 * What processes hold in shared mappings without a file, in bytes: the kernel keeps their pages for as long as a part
 * is mapped anywhere, although they may be resident in no process. Null if there are too many to examine.
 * @param growth the most that is counted of those of which only the mapped size is known: who is not root may not ask
 *   the kernel how much they hold, and they may be empty
 */
export async function sharedMappingBytes(pids: readonly number[], growth: number): Promise<number | null> {
  const held = new Map<string, number>();
  const mapped = new Map<string, number>();
  let seen = 0;
  for (const pid of pids) {
    for (const [, from = '', to = '', offset = '', inode = ''] of mappingsOf(pid)) {
      if (++seen > maxMappings) return null;
      if (seen % mappingsPerTurn === 0) await othersTurn();
      if (held.has(inode)) continue;
      const bytes = heldBytes(`/proc/${pid}/map_files/${from}-${to}`);
      if (bytes !== null) held.set(inode, bytes);
      const end = hexadecimal(offset) + hexadecimal(to) - hexadecimal(from);
      mapped.set(inode, Math.max(end, mapped.get(inode) ?? 0));
    }
    await othersTurn();
  }
  for (const inode of held.keys()) mapped.delete(inode);
  return sum(held) + Math.min(sum(mapped), growth);
}

function mappingsOf(pid: number): Iterable<RegExpExecArray> {
  return kernelText(`/proc/${pid}/maps`).matchAll(sharedMapping);
}

function heldBytes(path: string): number | null {
  try {
    return statSync(path).blocks * 512;
  } catch {
    return null;
  }
}

function hexadecimal(digits: string): number {
  return Number.parseInt(digits, 16);
}

function sum(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((total, size) => total + size, 0);
}
