/** The end of an output. */
export class Tail {
  readonly #most: number;
  #bytes: Buffer = Buffer.alloc(0);

  /** @param most bytes that are kept */
  constructor(most: number) {
    this.#most = most;
  }

  add(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-this.#most);
  }

  get text(): string {
    return this.#bytes.toString('utf8').toWellFormed();
  }
}
