import { readdirSync, readlinkSync } from 'node:fs';
import { sha256 } from '../lib/hash.ts';
import {
  bootId,
  lastingMachineIdentity,
  machineIdentity,
  processStartTime,
} from '../lib/process-identity.ts';

const prefix = 'mlab';
/** Used instead of a machine's name. */
const unnamed = 'unnamed';

/** The scope of process ids: this machine, this boot of it, this process namespace. Each without hyphens. */
function whereabouts(): [machine: string, boot: string, namespace: string] {
  try {
    const machine = lastingMachineIdentity();
    const namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
    return [machine === null ? unnamed : shortHash(machine), shortHash(bootId()), namespace];
  } catch {
    return [unnamed, shortHash(machineIdentity()), '0'];
  }
}

/** A new name for something that belongs to this process and must not outlive it. */
export function ownedName(suffix: string): string {
  owner ??= [prefix, ...whereabouts(), process.pid, processStartTime(process.pid) ?? '0'].join('-');
  return `${owner}-${suffix}`;
}

let owner: string | null = null;

/**
 * Whether the process that made this name has died. It has if its machine was rebooted since; otherwise it must be a
 * process that can be looked up from here: names from another machine (hosts may share a container engine or a folder)
 * or from another process namespace are never judged.
 * @param judged known results by the prefix of the names; added to
 */
export function isOrphaned(name: string, judged = new Map<string, boolean>()): boolean {
  const match = /^mlab-([0-9a-z]+)-([0-9a-f]+)-(\d+)-(\d+)-(\d+)-/.exec(name);
  if (match === null) return false;
  const [tag, machine, boot, namespace, pid, started] = match;
  const known = judged.get(tag);
  if (known !== undefined) return known;
  const [ownMachine, ownBoot, ownNamespace] = whereabouts();
  const isOver =
    boot === ownBoot
      ? machine === ownMachine && namespace === ownNamespace && processStartTime(Number(pid)) !== started
      : machine === ownMachine && machine !== unnamed;
  judged.set(tag, isOver);
  return isOver;
}

/** Names in a folder whose owner has died; none if it can't be read. */
export function orphansIn(folder: string): string[] {
  try {
    // One process may have left hundreds: each process is looked up once.
    const judged = new Map<string, boolean>();
    return readdirSync(folder).filter((name) => name.startsWith(`${prefix}-`) && isOrphaned(name, judged));
  } catch {
    return [];
  }
}

/** Short, because it is part of the names of folders, containers and control groups. */
function shortHash(text: string): string {
  return sha256(text).slice(0, 8);
}
