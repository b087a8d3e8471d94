import type { ProcessUsage } from '../sandbox/index.ts';

/** The resources that the commands of one step used together; a part is absent if it was not measured. */
export interface StepUsage {
  cpuSeconds?: number;
  /** Of the command with the highest peak. */
  peakMemoryBytes?: number;
}

/** Adds up the resources that commands use, from step to step. */
export class UsageMeter {
  #step: StepUsage = {};

  add({ cpuSeconds, peakMemoryBytes }: ProcessUsage): void {
    const { cpuSeconds: seconds = 0, peakMemoryBytes: bytes = 0 } = this.#step;
    if (cpuSeconds !== null) this.#step.cpuSeconds = seconds + cpuSeconds;
    if (peakMemoryBytes !== null) this.#step.peakMemoryBytes = Math.max(bytes, peakMemoryBytes);
  }

  /** The resources used since the last call. */
  take(): StepUsage {
    const taken = this.#step;
    this.#step = {};
    return taken;
  }
}
