import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ObjectStore, outputFile, type TraceWriter } from '../store/index.ts';

/** A folder of long outputs; those up to a step belong to another branch. */
export interface OutputsFolder {
  folder: string;
  afterStep: number;
}

/** Counts what a run adds to its experiment folder: new objects, its trace, and outputs too long for it. */
export class StoredBytes {
  readonly #objects: ObjectStore;
  readonly #trace: TraceWriter;
  /** Objects that earlier sessions wrote, minus those that this store has counted already. */
  readonly #before: number;
  #outputs: number;

  /**
   * @param outputs as earlier sessions left them
   * @param recorded the count at the last recorded step; null if there is none
   */
  constructor(
    objects: ObjectStore,
    trace: TraceWriter,
    outputs: readonly OutputsFolder[],
    recorded: number | null,
  ) {
    this.#objects = objects;
    this.#trace = trace;
    this.#outputs = outputs.reduce((sum, folder) => sum + sizeOfOutputs(folder), 0);
    this.#before = recorded === null ? 0 : Math.max(0, recorded - this.#besideObjects) - objects.writtenBytes;
  }

  get count(): number {
    return Math.max(0, this.#before + this.#objects.writtenBytes) + this.#besideObjects;
  }

  addOutput(bytes: number): void {
    this.#outputs += bytes;
  }

  get #besideObjects(): number {
    return this.#outputs + this.#trace.bytes;
  }
}

function sizeOfOutputs({ folder, afterStep }: OutputsFolder): number {
  const last = outputFile(afterStep);
  try {
    return readdirSync(folder).reduce((sum, name) => {
      if (name <= last) return sum;
      return sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
    }, 0);
  } catch {
    // There is none yet.
    return 0;
  }
}
