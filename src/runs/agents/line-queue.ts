import { StringDecoder } from 'node:string_decoder';

/** The limit of unread lines: these protocols wait for answers. */
const maxLines = 10_000;
/** The limit of their characters together. */
const maxWaiting = 64 * 2 ** 20;

/** The output of a process in lines, one at a time. */
export class LineQueue {
  readonly #longest: number;
  readonly #decoder = new StringDecoder('utf8');
  readonly #lines: string[] = [];
  /** The beginning of an incomplete last line. */
  #pieces: string[] = [];
  #length = 0;
  #waiting = 0;
  #end: string | null = null;
  #wake = () => {};

  /**
   * @param longest line in characters; default: more than any agent writes, because files are written through arguments
   */
  constructor(longest = maxWaiting) {
    this.#longest = longest;
  }

  add(chunk: Buffer): void {
    if (this.#end !== null) return;
    const [first = '', ...rest] = this.#decoder.write(chunk).split('\n');
    this.#pieces.push(first);
    this.#length += first.length;
    for (const next of rest) {
      this.#waiting += this.#length;
      this.#lines.push(this.#pieces.join(''));
      this.#pieces = [next];
      this.#length = next.length;
    }
    if (this.#length > this.#longest) this.end(`It wrote a line of more than ${this.#longest} characters.`);
    else if (this.#lines.length > maxLines)
      this.end(`It wrote ${maxLines} lines without waiting for an answer.`);
    else if (this.#waiting > maxWaiting)
      this.end(`It wrote ${maxWaiting} characters without waiting for an answer.`);
    this.#wake();
  }

  /**
   * No more lines will come.
   * @param why as a sentence
   */
  end(why: string): void {
    this.#end ??= why;
    this.#wake();
  }

  /**
   * The next line, or why there is none any more.
   * @param signal rejects with its reason
   */
  async next(signal: AbortSignal): Promise<{ line: string } | { end: string }> {
    while (true) {
      signal.throwIfAborted();
      const line = this.#lines.shift();
      if (line !== undefined) {
        this.#waiting -= line.length;
        return { line };
      }
      if (this.#end !== null) return { end: this.#end };
      const woken = Promise.withResolvers<void>();
      const wake = () => woken.resolve();
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
      await woken.promise;
      signal.removeEventListener('abort', wake);
    }
  }
}
