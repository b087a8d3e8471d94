import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Probe } from './validation-agent.ts';

/** Whether a process on this machine still has a word among its arguments, by which survivors are found. */
export function survivorsProbe(word: string): Probe {
  const survivors = existsSync('/proc') ? processesWith(word) : [];
  return {
    looked: 'processes of this machine',
    breached: survivors.length > 0,
    finding:
      survivors.length > 0
        ? `still alive: ${survivors.slice(0, 5).join(', ')}`
        : 'none of its processes is left',
  };
}

function processesWith(word: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => argumentsOf(name).includes(word));
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(join('/proc', pid, 'cmdline'), 'utf8');
  } catch {
    // It has ended meanwhile, or belongs to another user.
    return '';
  }
}
