import { isStopped, signalAll } from './process-tree.ts';

/** A process that is not frozen yet may start others. */
const maxRounds = 4;

/** Processes that are stopped until they are thawed. Those that were stopped before stay so afterwards. */
export class FrozenProcesses {
  readonly #frozen = new Set<number>();

  /** @param processes their current host ids, queried more than once */
  constructor(processes: () => number[]) {
    for (let round = 0; round < maxRounds; round += 1) {
      const running = processes().filter((pid) => !this.#frozen.has(pid) && !isStopped(pid));
      if (running.length === 0) return;
      signalAll(running, 'SIGSTOP');
      for (const pid of running) this.#frozen.add(pid);
    }
  }

  thaw(): void {
    signalAll([...this.#frozen], 'SIGCONT');
  }
}
