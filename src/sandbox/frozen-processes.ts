import { isStopped, signalAll } from './process-tree.ts';

/** One whose turn has not come yet may start others. */
const mostRounds = 4;

/** Processes that stand still until they are thawed. Those that stood still already go on doing so after it. */
export class FrozenProcesses {
  readonly #frozen = new Set<number>();

  /** @param processes their host ids at the moment, asked more than once */
  constructor(processes: () => number[]) {
    for (let round = 0; round < mostRounds; round += 1) {
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
