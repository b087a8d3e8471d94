import type { ProcessUsage } from '../sandbox/index.ts';

/** What the commands of one step used together; a part is absent where nothing measured it. */
export interface StepUsage {
  cpuSeconds?: number;
  /** Of the hungriest command. */
  peakMemoryBytes?: number;
}

/** Adds up what commands use, from step to step. */
export class UsageMeter {
  #step: StepUsage = {};

  add({ cpuSeconds, peakMemoryBytes }: ProcessUsage): void {
    const { cpuSeconds: seconds = 0, peakMemoryBytes: bytes = 0 } = this.#step;
    if (cpuSeconds !== null) this.#step.cpuSeconds = seconds + cpuSeconds;
    if (peakMemoryBytes !== null) this.#step.peakMemoryBytes = Math.max(bytes, peakMemoryBytes);
  }

  /** What was used since this was last asked. */
  take(): StepUsage {
    const taken = this.#step;
    this.#step = {};
    return taken;
  }
}
