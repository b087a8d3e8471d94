import { styleText } from 'node:util';

/** Says what is under way; at a terminal, seconds below the latest line show that a long download goes on. */
export class MovingLine implements Disposable {
  readonly #log: (line: string) => void;
  readonly #isTerminal: boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(isTerminal: boolean, log: (line: string) => void) {
    this.#isTerminal = isTerminal;
    this.#log = log;
  }

  show(line: string): void {
    this[Symbol.dispose]();
    this.#log(line);
    if (!this.#isTerminal) return;
    const start = performance.now();
    this.#timer = setInterval(() => {
      const seconds = Math.round((performance.now() - start) / 1000);
      process.stderr.write(`${erased}${styleText('dim', `  … ${seconds} s`)}`);
    }, 1000);
  }

  [Symbol.dispose](): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    process.stderr.write(erased);
  }
}

/** The line at the cursor, which a terminal then shows empty. */
const erased = '\r\u001b[K';
