import { readdirSync, readlinkSync } from 'node:fs';
import { processStartTime } from '../lib/process-identity.ts';

const prefix = 'mlab';

/** Names this process among all that ever ran here, so that what a killed one left behind can be told. */
function ownerTag(): string {
  return `${pidNamespace()}-${process.pid}-${processStartTime(process.pid) ?? 0}`;
}

/** A new name for something that belongs to this process and must not outlive it. */
export function ownedName(suffix: string): string {
  return `${prefix}-${ownerTag()}-${suffix}`;
}

/**
 * Whether the process that made this name has died. Names from another process namespace are never judged: their
 * process ids mean nothing here.
 * @param judged what is known of processes already, by the front of their names; added to
 */
export function isOrphaned(name: string, judged = new Map<string, boolean>()): boolean {
  const match = /^mlab-(\d+)-(\d+)-(\d+)-/.exec(name);
  if (match === null) return false;
  const [tag, namespace, pid, started] = match;
  const known = judged.get(tag);
  if (known !== undefined) return known;
  const isOver = namespace === pidNamespace() && processStartTime(Number(pid)) !== started;
  judged.set(tag, isOver);
  return isOver;
}

/** Names in a folder whose owner has died; none when it can't be read. */
export function orphansIn(folder: string): string[] {
  try {
    // One process may have left hundreds: each process is looked at once.
    const judged = new Map<string, boolean>();
    return readdirSync(folder).filter((name) => name.startsWith(`${prefix}-`) && isOrphaned(name, judged));
  } catch {
    return [];
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '0';
  }
}
