import { availableParallelism, totalmem } from 'node:os';
import type { JobResources } from '../../schema/index.ts';

/** The capacity for jobs of a machine or a part of it. */
export interface Amounts {
  /** May be a fraction. */
  cores: number;
  memory_mb: number;
  gpus: number;
  /** The most concurrent jobs, whatever they need. */
  jobs: number;
}

const mebibyte = 2 ** 20;
/** Fractions of cores are not exact. */
const rounding = 1e-6;
const dimensions = ['cores', 'memory_mb', 'gpus', 'jobs'] as const;

/** What this process may use: fewer cores and less memory than the machine has if it is in a control group. */
export function machineAmounts(): Pick<Amounts, 'cores' | 'memory_mb'> {
  // 0 or more than the machine has: not limited.
  const constrained = process.constrainedMemory();
  const bytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return { cores: availableParallelism(), memory_mb: Math.floor(bytes / mebibyte) };
}

/** The number of GPUs of a job that wants any; one if no number is given. */
export function gpusOf({ gpu, gpus }: Pick<JobResources, 'gpu' | 'gpus'>): number {
  return gpu ? (gpus ?? 1) : 0;
}

/** Counts what jobs hold, so that together they never hold more than there is. */
export class Capacity {
  readonly total: Readonly<Amounts>;
  readonly #held = new Set<Amounts>();
  #free: Amounts;

  constructor(total: Amounts) {
    this.total = total;
    this.#free = { ...total };
  }

  /** What a job holds while it is executed. An exclusive job holds all places. */
  needOf(resources: JobResources): Amounts {
    return {
      cores: resources.cores,
      memory_mb: resources.memory_mb,
      gpus: gpusOf(resources),
      jobs: resources.exclusive ? this.total.jobs : 1,
    };
  }

  /** Why a job can never be executed here; null if it can. */
  whyNever(resources: JobResources): string | null {
    const need = this.needOf(resources);
    const lacks = dimensions.filter((name) => need[name] > this.total[name] + rounding);
    if (lacks.length === 0) return null;
    const asked = lacks.map((name) => inWords(name, need[name]));
    const there = lacks.map((name) => inWords(name, this.total[name]));
    return `it needs ${asked.join(' and ')}; all that is here for jobs: ${there.join(' and ')}`;
  }

  get free(): Readonly<Amounts> {
    return this.#free;
  }

  /** The number of jobs that hold something. */
  get jobs(): number {
    return this.#held.size;
  }

  /** @param reserved what is kept for others */
  fits(resources: JobResources, reserved: Amounts = nothing): boolean {
    const need = this.needOf(resources);
    const left = (name: keyof Amounts) => this.#free[name] - reserved[name] + rounding;
    return dimensions.every((name) => need[name] === 0 || need[name] <= left(name));
  }

  /** Holds what a job needs, if it fits, until it is disposed of. */
  take(resources: JobResources): Disposable {
    if (!this.fits(resources)) throw new Error('there is no room for this job');
    const held = this.needOf(resources);
    this.#held.add(held);
    this.#count(held, -1);
    const release = () => {
      if (this.#held.delete(held)) this.#count(held, 1);
    };
    return { [Symbol.dispose]: release };
  }

  #count(amounts: Amounts, sign: 1 | -1): void {
    for (const name of dimensions) this.#free[name] += sign * amounts[name];
    // Rounding errors must not add up.
    if (this.#held.size === 0) this.#free = { ...this.total };
  }
}

export const nothing: Readonly<Amounts> = { cores: 0, memory_mb: 0, gpus: 0, jobs: 0 };

function inWords(name: (typeof dimensions)[number], amount: number): string {
  switch (name) {
    case 'memory_mb':
      return `${amount} MB of memory`;
    case 'gpus':
      return amount === 0 ? 'no GPU' : amount === 1 ? '1 GPU' : `${amount} GPUs`;
    case 'cores':
      return amount === 1 ? '1 core' : `${amount} cores`;
    case 'jobs':
      return amount === 1 ? 'room for one job' : `room for ${amount} jobs`;
  }
}
