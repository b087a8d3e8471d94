import { type Profiler, Session } from 'node:inspector';

/**
 * The blocks of the project's sources that ran, as V8 counts them: the fuzzer keeps inputs that reach something new. It
 * needs neither instrumented code nor a native library; reading the counts takes some milliseconds, so inputs run in
 * batches.
 */
export class V8Coverage implements Disposable {
  readonly #session = new Session();
  readonly #within: string;
  readonly #scripts = new Map<string, number>();

  /** @param within prefix of the URLs of the scripts that count */
  constructor(within: string) {
    this.#within = within;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Blocks that ran since the last call. */
  take(): string[] {
    let found: Profiler.ScriptCoverage[] = [];
    this.#session.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error !== null) throw error;
      found = taken.result;
    });
    return found.flatMap(({ url, functions }) =>
      url.startsWith(this.#within) ? this.#blocks(url, functions) : [],
    );
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }

  #blocks(url: string, functions: readonly Profiler.FunctionCoverage[]): string[] {
    const script = this.#scripts.get(url) ?? this.#scripts.size;
    this.#scripts.set(url, script);
    const blocks: string[] = [];
    for (const { ranges } of functions) {
      for (const { startOffset, endOffset, count } of ranges) {
        if (count > 0) blocks.push(`${script}:${startOffset}-${endOffset}`);
      }
    }
    return blocks;
  }
}
