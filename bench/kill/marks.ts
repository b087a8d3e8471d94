import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';

/** When to kill a process: some milliseconds after it reached something for the nth time. */
export const Aim = z.object({ mark: z.string(), times: z.int().min(1), afterMs: z.number() });
export type Aim = z.infer<typeof Aim>;

/**
 * What a process is doing, reported on standard output as it begins and ends. The system has the report when `begin`
 * returns, so it survives a kill. An aimed kill is done by a separate thread, at any instruction.
 */
export class Marks {
  readonly #known: ReadonlySet<string>;
  readonly #aim: Aim | null;
  readonly #flag = new Int32Array(new SharedArrayBuffer(4));
  readonly #open = new Set<string>();
  #seen = 0;

  /** @param known what is in the trace, so that it is only repeated: not reported */
  constructor(known: readonly string[], aim: Aim | null) {
    this.#known = new Set(known);
    this.#aim = aim;
  }

  /** Resolves when the killer is ready. */
  async ready(): Promise<void> {
    if (this.#aim === null) return;
    const workerData = { flag: this.#flag, afterMs: this.#aim.afterMs };
    const killer = new Worker(new URL('../children/killer.ts', import.meta.url), { workerData });
    killer.unref();
    await new Promise<void>((resolve) => killer.once('message', () => resolve()));
  }

  begin(name: string): void {
    if (this.#known.has(name)) return;
    this.#open.add(name);
    say(`begin ${name}`);
    if (this.#aim === null || !name.startsWith(this.#aim.mark)) return;
    this.#seen += 1;
    if (this.#seen !== this.#aim.times) return;
    Atomics.store(this.#flag, 0, 1);
    Atomics.notify(this.#flag, 0);
  }

  end(name: string): void {
    if (this.#open.delete(name)) say(`end ${name}`);
  }
}

export function say(line: string): void {
  writeSync(1, `${line}\n`);
}
