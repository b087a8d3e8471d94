import { readdirSync } from 'node:fs';
import { processStartTime } from '../lib/process-identity.ts';
import { kernelText } from './kernel-text.ts';
import { descendantsOf, signalAll } from './process-tree.ts';

/**
 * The processes of a container as the host sees them: faster to reach than by the engine. None if the engine runs on
 * another machine or this user may not see them.
 */
export class ContainerProcesses {
  readonly #marker: string;
  readonly #most: number;
  /** Undefined: not searched for yet. */
  #first: { pid: number; started: string } | null | undefined;

  /**
   * @param marker is among the first process's arguments, and in no other container's
   * @param most stops after this many
   */
  constructor(marker: string, most: number) {
    this.#marker = marker;
    this.#most = most;
  }

  /** Host ids of all but the first, which only waits. Call it while the container runs. */
  all(): number[] {
    const first = this.#living();
    return first === null ? [] : descendantsOf(first, this.#most);
  }

  /** Kills the first one, with which the kernel kills the others. */
  kill(): void {
    const first = this.#living();
    if (first !== null) signalAll([first], 'SIGKILL');
  }

  #living(): number | null {
    this.#first ??= this.#first === undefined ? firstWith(this.#marker) : null;
    if (this.#first === null) return null;
    return processStartTime(this.#first.pid) === this.#first.started ? this.#first.pid : null;
  }
}

/** Among those with this argument, the one that is the first of a nested namespace. */
function firstWith(marker: string): { pid: number; started: string } | null {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || !kernelText(`/proc/${name}/cmdline`).split('\0').includes(marker)) continue;
    const isFirst = /^NSpid:(?:\t\d+)+\t1$/m.test(kernelText(`/proc/${name}/status`));
    const started = isFirst ? processStartTime(Number(name)) : null;
    if (started !== null) return { pid: Number(name), started };
  }
  return null;
}
