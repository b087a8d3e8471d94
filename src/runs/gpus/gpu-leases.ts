import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AsyncDisposableStack } from '../../lib/disposable-stack.ts';
import { hasCode, UserError } from '../../lib/errors.ts';
import {
  clearGpu,
  type Gpu,
  GpuSampler,
  type GpuSystem,
  gpuSystemOf,
  listGpus,
} from '../../sandbox/index.ts';
import type { RunGpus, RunSpec } from '../../schema/index.ts';
import { leaseName, type RunLease, takeLeaseNow } from '../../store/index.ts';

export interface LeaseGpusOptions {
  signal: AbortSignal;
  /** Called once if the GPUs are in use. */
  onWait?: (reason: string) => void;
}

const pollMs = 200;

/**
 * The GPUs of this machine. Each belongs to one run at a time, whichever process executes it: the holder has its lease,
 * a file in a folder that all processes of the machine see. A dead process holds none.
 */
export class GpuLeases {
  readonly gpus: readonly Gpu[];
  readonly #folder: string;
  readonly #smi: string;
  readonly #sampleMs: number | undefined;

  /** @param folder of the leases, the same for everybody who shares the GPUs */
  constructor(gpus: readonly Gpu[], folder: string, smi: string, sampleMs?: number) {
    this.gpus = gpus;
    this.#folder = folder;
    this.#smi = smi;
    this.#sampleMs = sampleMs;
  }

  /** @param variables environment variables: MLAB_NVIDIA_SMI, MLAB_GPU_LEASES, CUDA_VISIBLE_DEVICES */
  static async find(
    variables: Readonly<Record<string, string | undefined>>,
    system: GpuSystem = gpuSystemOf(variables),
  ): Promise<GpuLeases> {
    const gpus = await listGpus(system, variables.CUDA_VISIBLE_DEVICES);
    // Not TMPDIR, which schedulers and users set to their own folders.
    const folder = resolve(variables.MLAB_GPU_LEASES || '/tmp/mlagentbench-gpus');
    return new GpuLeases(gpus, folder, system.smi);
  }

  /**
   * Leases GPUs as soon as they are free, and ends what earlier runs left on them.
   * @throws UserError `no_gpu`; the signal's reason
   */
  async lease(count: number, { signal, onWait }: LeaseGpusOptions): Promise<HeldGpus> {
    this.#refuseTooMany(count);
    shareFolder(this.#folder);
    await using taken = new AsyncDisposableStack();
    const leases: { gpu: Gpu; lease: RunLease }[] = [];
    // Only one process collects GPUs at a time: otherwise two could each hold half of what both need.
    using _turn = await this.#turn(signal, onWait);
    for (let told = false; leases.length < count; ) {
      for (const gpu of this.gpus) {
        if (leases.length === count) break;
        const lease = leases.some((one) => one.gpu === gpu) ? null : await this.#tryToTake(gpu);
        if (lease === null) continue;
        taken.defer(() => lease.release());
        leases.push({ gpu, lease });
      }
      if (leases.length === count) break;
      if (!told) onWait?.(`${count - leases.length} of ${count} GPUs`);
      told = true;
      await sleep(pollMs, undefined, { signal });
    }
    const gpus = leases.map(({ gpu }) => gpu);
    const lost = AbortSignal.any(leases.map(({ lease }) => lease.lost));
    return new HeldGpus(gpus, lost, new GpuSampler(this.#smi, gpus, this.#sampleMs), taken.move());
  }

  #refuseTooMany(count: number): void {
    const { length } = this.gpus;
    if (count <= length) return;
    const there = length === 0 ? 'has none that may be used' : `has ${length}`;
    throw new UserError(
      'no_gpu',
      `The run needs ${count === 1 ? 'a GPU' : `${count} GPUs`}, and this machine ${there}.`,
      'mlab doctor lists the GPUs it finds. Use fewer (--gpus) or none, or execute the run elsewhere (--on).',
    );
  }

  async #turn(signal: AbortSignal, onWait: LeaseGpusOptions['onWait']): Promise<RunLease> {
    const folder = join(this.#folder, 'turn');
    for (let told = false; ; told = true) {
      const lease = leaseIfFree(folder);
      if (lease !== null) return lease;
      if (!told) onWait?.('those who came first for GPUs');
      await sleep(pollMs, undefined, { signal });
    }
  }

  /** Null if somebody has it, or if a process that can't be ended runs on it. */
  async #tryToTake({ uuid }: Gpu): Promise<RunLease | null> {
    const lease = leaseIfFree(join(this.#folder, uuid.replaceAll('/', '_')));
    if (lease === null || (await clearGpu(uuid)) !== null) return lease;
    lease.release();
    return null;
  }
}

function leaseIfFree(folder: string): RunLease | null {
  shareFolder(folder);
  shareFolder(join(folder, leaseName));
  try {
    return takeLeaseNow(folder);
  } catch (error) {
    if (hasCode(error, 'run_locked')) return null;
    throw error;
  }
}

/** Any user of the machine may execute runs on its GPUs. */
function shareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`);
    chmodSync(folder, 0o777);
  } catch (error) {
    // It belongs to another user, who has shared it.
    if (!hasCode(error, 'EPERM')) throw error;
  }
}

/** The GPUs of one run, until they are released. */
export class HeldGpus implements AsyncDisposable {
  readonly gpus: readonly Gpu[];
  /** Aborted when this process notices that another one has one of them. */
  readonly lost: AbortSignal;
  readonly #sampler: GpuSampler;
  readonly #leases: AsyncDisposable;

  constructor(gpus: readonly Gpu[], lost: AbortSignal, sampler: GpuSampler, leases: AsyncDisposable) {
    this.gpus = gpus;
    this.lost = lost;
    this.#sampler = sampler;
    this.#leases = leases;
  }

  /** Their use until now, added to that of the run's earlier sessions. */
  added(earlier: RunGpus | undefined): RunGpus {
    const { heldSeconds, busySeconds, peakMemoryBytes } = this.#sampler.use();
    const together = (one: number | null | undefined, other: number | null, add: typeof sum) =>
      one == null ? other : other === null ? one : add(one, other);
    return {
      uuids: this.gpus.map(({ uuid }) => uuid),
      held_seconds: (earlier?.held_seconds ?? 0) + heldSeconds,
      busy_seconds: together(earlier?.busy_seconds, busySeconds, sum),
      peak_memory_bytes: together(earlier?.peak_memory_bytes, peakMemoryBytes, Math.max),
    };
  }

  /** To be called when no process of the run is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sampler[Symbol.asyncDispose]();
    for (const { uuid } of this.gpus) await clearGpu(uuid);
    await this.#leases[Symbol.asyncDispose]();
  }
}

/** As a run's plan says it. */
export function givenGpus(held: HeldGpus | undefined): Pick<RunSpec, 'gpu' | 'gpus'> {
  return held === undefined ? { gpu: false } : { gpu: true, gpus: held.gpus.length };
}

const sum = (one: number, other: number) => one + other;
