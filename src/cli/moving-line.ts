import { styleText } from 'node:util';

/** Shows what is under way. At a terminal, seconds below the latest line show that a long download is still running. */
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

/** Clears the line at the cursor. */
const erased = '\r\u001b[K';
