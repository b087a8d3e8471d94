import { z } from 'zod';
import type { Gpu } from './gpu.ts';
import { nvidiaSmi, query, rowsOf, smiNumber } from './nvidia-smi.ts';

/** The use of held GPUs. */
export interface GpuUse {
  /** For all together: three GPUs for one second are three. */
  heldSeconds: number;
  /** Time in which they computed, by samples; null if not available, as for slices. */
  busySeconds: number | null;
  /** Of the GPU with most memory in use; null if not available. */
  peakMemoryBytes: number | null;
}

const names = ['uuid', 'utilization.gpu', 'memory.used'] as const;
const Sample = z.object({ uuid: z.string(), 'utilization.gpu': smiNumber, 'memory.used': smiNumber });

/** Short runs are sampled more often. */
const shortestMs = 500;

/** During longer gaps, as when a machine slept, it is unknown whether they were busy. */
const longestGap = 3;

/** Samples the GPUs that are held now, at intervals that grow to a few seconds, and adds up. Must be closed. */
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
      const ms = (performance.now() - this.#begun) / 4;
      await sleepUnless(signal, Math.min(this.#everyMs, Math.max(ms, shortestMs)));
    }
  }

  async #sample(): Promise<void> {
    const printed = await nvidiaSmi(this.#smi, query(names));
    const now = performance.now();
    const seconds = Math.min(now - this.#last, longestGap * this.#everyMs) / 1000;
    this.#last = now;
    for (const row of rowsOf(printed ?? '', names, Sample)) {
      // The use of a whole GPU says nothing about one of its slices.
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
