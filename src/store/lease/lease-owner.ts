import { readdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../lib/errors.ts';
import { parsedAs } from '../../lib/json-values.ts';
import {
  isProcessAlive,
  lastingMachineIdentity,
  machineIdentity,
  processStartTime,
} from '../../lib/process-identity.ts';
import { readRegularFile } from '../../lib/regular-file.ts';

/** Far above the size of a lease. */
const maxBytes = 2 ** 16;

/** A lease in the form of its file; the file's name is the epoch. */
export const LeaseFile = z.object({
  state: z.enum(['held', 'free']),
  pid: z.int(),
  /** When the process began: another one may have its number by now. */
  started: z.string().nullable(),
  /** The boot and the container within which process numbers are unique. */
  machine: z.string(),
  /** Identifies the machine across its boots, if it can be identified. */
  lasting: z.string().nullish(),
  host: z.string(),
  id: z.string().optional(),
  /** Counts up as long as the owner is alive. */
  renewed: z.int().optional(),
});
export type LeaseFile = z.infer<typeof LeaseFile>;

/** The identity of a process for others. */
export type LeaseOwner = Pick<LeaseFile, 'pid' | 'started' | 'machine' | 'lasting' | 'host'>;

export function thisProcess(): LeaseOwner {
  return {
    pid: process.pid,
    started: processStartTime(process.pid),
    machine: machineIdentity(),
    lasting: lastingMachineIdentity(),
    host: hostname(),
  };
}

/** A lease in a folder, and its text; null if it disappeared meanwhile. */
export interface FoundLease {
  epoch: number;
  text: string | null;
  lease: LeaseFile | null;
  /** When it was last written, by the clock of the file system, in ms. */
  writtenMs: number;
}

/** All leases in a folder, newest last: more than one while a lease changes hands. */
export function leasesIn(folder: string): FoundLease[] {
  return epochsIn(folder).map((epoch) => {
    const path = join(folder, String(epoch));
    const text = readText(path);
    const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return { epoch, text, lease: text === null ? null : parsed(text), writtenMs };
  });
}

/** In order. */
export function epochsIn(folder: string): number[] {
  try {
    const numbers = readdirSync(folder).flatMap((name) => (/^[1-9]\d*$/.test(name) ? [Number(name)] : []));
    return numbers.sort((one, other) => one - other);
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw error;
  }
}

function readText(path: string): string | null {
  try {
    return readRegularFile(path, maxBytes).toString('utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESTALE')) return null;
    throw error;
  }
}

/** A lease that can't be read, because it is being written, counts as held elsewhere. */
function parsed(text: string): LeaseFile {
  const elsewhere: LeaseFile = { state: 'held', pid: 0, started: null, machine: 'unknown', host: 'unknown' };
  return parsedAs(LeaseFile, text) ?? elsewhere;
}

/** `unknown`: on another machine, or in another container. Only watching it shows whether it is alive. */
export type OwnerState = 'free' | 'dead' | 'alive' | 'unknown';

export function stateOf(lease: LeaseFile, me: LeaseOwner): OwnerState {
  if (lease.state === 'free') return 'free';
  if (lease.machine === me.machine) return isProcessAlive(lease.pid, lease.started) ? 'alive' : 'dead';
  // The same machine after a reboot: its former processes have ended.
  const isThisMachine = lease.lasting != null && lease.lasting === me.lasting;
  return isThisMachine && bootOf(lease.machine) !== bootOf(me.machine) ? 'dead' : 'unknown';
}

/** See `machineIdentity`. */
function bootOf(machine: string): string {
  return machine.split(' ', 1)[0] ?? machine;
}
