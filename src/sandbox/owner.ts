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
 */
export function isOrphaned(name: string): boolean {
  const match = /^mlab-(\d+)-(\d+)-(\d+)-/.exec(name);
  if (match === null || match[1] !== pidNamespace()) return false;
  return processStartTime(Number(match[2])) !== match[3];
}

/** Names in a folder whose owner has died; none when it can't be read. */
export function orphansIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith(`${prefix}-`) && isOrphaned(name));
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
