import { type Attempt, attempt, type Fault } from './attempt.ts';
import { V8Coverage } from './coverage.ts';
import { minimise } from './minimise.ts';
import { mutate } from './mutate.ts';
import { FuzzRandom } from './random.ts';
import type { FuzzTarget, OpenTarget } from './target.ts';

export interface LoopOptions {
  target: FuzzTarget;
  open: OpenTarget;
  kept: readonly Buffer[];
  seed: number;
  seconds: number;
  /** Prefix of the URLs of the scripts whose coverage counts. */
  within: string;
  /** Called with each input before it runs: one that hangs or takes all memory can't report itself. */
  begin: (input: Buffer) => void;
  found: (fault: Fault, input: Buffer) => void;
}

export interface LoopResult {
  executions: number;
  /** The number of blocks of the sources that ran. */
  covered: number;
  /** Inputs that reached something that no earlier one did. */
  corpus: { content: Buffer; covered: ReadonlySet<string> }[];
}

const minimiseMs = { crash: 10_000, slow: 10_000, memory: 5_000, hang: 0 };

/** Runs the kept inputs, then mutated ones until time is up; those that reach new code are mutated further. */
export async function fuzzLoop(options: LoopOptions): Promise<LoopResult> {
  // Coverage makes everything slower, and only a search for new inputs needs it.
  using coverage = options.seconds > 0 ? new V8Coverage(options.within) : null;
  return await new FuzzLoop(options, coverage).run();
}

class FuzzLoop {
  readonly #options: LoopOptions;
  readonly #coverage: V8Coverage | null;
  readonly #random: FuzzRandom;
  readonly #known = new Set<string>();
  readonly #faults = new Set<string>();
  readonly #corpus: { content: Buffer; covered: ReadonlySet<string> }[] = [];
  #executions = 0;

  constructor(options: LoopOptions, coverage: V8Coverage | null) {
    this.#options = options;
    this.#coverage = coverage;
    this.#random = new FuzzRandom(options.seed);
  }

  async run(): Promise<LoopResult> {
    const { target, kept, seconds } = this.#options;
    const end = performance.now() + seconds * 1000;
    const maxBytes = target.maxBytes ?? 32 * 1024;
    for (const input of kept) await this.#keepNew([input.subarray(0, maxBytes)]);
    while (performance.now() < end) {
      const inputs = Array.from({ length: target.batch ?? 32 }, () => this.#mutated(kept, maxBytes));
      await this.#keepNew(inputs);
    }
    return { executions: this.#executions, covered: this.#known.size, corpus: this.#corpus };
  }

  #mutated(kept: readonly Buffer[], maxBytes: number): Buffer {
    const known = this.#corpus.length > 0 ? this.#corpus.map(({ content }) => content) : kept;
    const base = this.#oneOf(known);
    const { words = [] } = this.#options.target;
    return mutate(base, { random: this.#random, words, others: known, maxBytes });
  }

  /** The shorter of two: short inputs are fast, and contain more of what matters. */
  #oneOf(inputs: readonly Buffer[]): Buffer {
    if (inputs.length === 0) return Buffer.alloc(0);
    const [one, other] = [this.#random.pick(inputs), this.#random.pick(inputs)];
    return one.length <= other.length ? one : other;
  }

  /** Runs inputs together; if they cover anything new, bisects them until it is clear which one does. */
  async #keepNew(inputs: readonly Buffer[]): Promise<void> {
    const reported: string[] = [];
    let sound = true;
    for (const input of inputs) {
      const { covered, fault } = await this.#attempt(input);
      reported.push(...covered);
      sound &&= fault === null;
    }
    const covered = new Set([...reported, ...(this.#coverage?.take() ?? [])]);
    const isNew = [...covered].some((block) => !this.#known.has(block));
    if (!isNew) return;
    const [only] = inputs;
    if (inputs.length === 1 && only !== undefined) {
      // One that shows a fault would show it again and again.
      if (sound) this.#corpus.push({ content: only, covered });
    } else {
      const middle = Math.ceil(inputs.length / 2);
      await this.#keepNew(inputs.slice(0, middle));
      await this.#keepNew(inputs.slice(middle));
    }
    // How V8 merges blocks depends on how often each ran: blocks that appear only in a batch are not searched for
    // again.
    for (const block of covered) this.#known.add(block);
  }

  async #attempt(input: Buffer): Promise<Attempt> {
    const { target, open, begin, found } = this.#options;
    this.#executions += 1;
    begin(input);
    const result = await attempt(target, open, input, this.#faults);
    const { fault } = result;
    if (fault === null || this.#faults.has(fault.signature)) return result;
    this.#faults.add(fault.signature);
    const shows = async (smaller: Buffer) => {
      begin(smaller);
      return (await attempt(target, open, smaller)).fault?.signature === fault.signature;
    };
    const smallest = await minimise(input, shows, minimiseMs[fault.kind]);
    found((await attempt(target, open, smallest)).fault ?? fault, smallest);
    return result;
  }
}
