import { z } from 'zod';
import type { Gpu } from './gpu.ts';
import { nvidiaSmi, query, rowsOf, smiNumber } from './nvidia-smi.ts';

/** What was made of GPUs that were held. */
export interface GpuUse {
  /** Of all together: three GPUs for a second are three. */
  heldSeconds: number;
  /** In which they computed, by samples; null where nothing tells, as of slices. */
  busySeconds: number | null;
  /** Of the one that had most in use; null where nothing tells. */
  peakMemoryBytes: number | null;
}

const names = ['uuid', 'utilization.gpu', 'memory.used'] as const;
const Sample = z.object({ uuid: z.string(), 'utilization.gpu': smiNumber, 'memory.used': smiNumber });

/** Longer gaps, as when a machine slept, are not known to have been busy. */
const longestGap = 3;

/** Looks at the GPUs that are held now, every few seconds, and adds up. To be closed. */
export class GpuSampler implements AsyncDisposable {
  readonly #smi: string;
  readonly #gpus: readonly Gpu[];
  readonly #everyMs: number;
  readonly #begun = performance.now();
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;
  #last: number;
  #busySeconds: number | null = null;
  #peakMemoryBytes: number | null = null;

  constructor(smi: string, gpus: readonly Gpu[], everyMs = 5_000) {
    this.#smi = smi;
    this.#gpus = gpus;
    this.#everyMs = everyMs;
    this.#last = this.#begun;
    this.#loop = this.#sampleAll();
  }

  use(): GpuUse {
    return {
      heldSeconds: (this.#gpus.length * (performance.now() - this.#begun)) / 1000,
      busySeconds: this.#busySeconds,
      peakMemoryBytes: this.#peakMemoryBytes,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #sampleAll(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#sample();
      await sleepUnless(signal, this.#everyMs);
    }
  }

  async #sample(): Promise<void> {
    const printed = await nvidiaSmi(this.#smi, query(names));
    const now = performance.now();
    const seconds = Math.min(now - this.#last, longestGap * this.#everyMs) / 1000;
    this.#last = now;
    for (const row of rowsOf(printed ?? '', names, Sample)) {
      // What a whole GPU does says nothing of one of its slices.
      if (this.#gpus.every(({ uuid }) => uuid !== row.uuid)) continue;
      const { 'utilization.gpu': percent, 'memory.used': mebibytes } = row;
      if (percent !== null) this.#busySeconds = (this.#busySeconds ?? 0) + (seconds * percent) / 100;
      if (mebibytes !== null)
        this.#peakMemoryBytes = Math.max(this.#peakMemoryBytes ?? 0, mebibytes * 2 ** 20);
    }
  }
}

function sleepUnless(signal: AbortSignal, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds).unref();
    signal.addEventListener('abort', end);
  });
}
