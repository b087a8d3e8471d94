/** Of an event that is longer, the parts so far are passed on. */
const longestEvent = 2 ** 20;

/** Splits the bytes of an event stream into whole events, each with the empty line that ends it. */
export class EventBlocks {
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The last four bytes, of this event alone. */
  #last = 0;

  add(piece: Buffer): Buffer[] {
    const blocks: Buffer[] = [];
    let start = 0;
    for (let at = 0; at < piece.length; at += 1) {
      this.#last = (this.#last << 8) | (piece[at] ?? 0);
      if (!isEmptyLine(this.#last)) continue;
      this.#hold(piece.subarray(start, at + 1));
      blocks.push(this.end());
      this.#last = 0;
      start = at + 1;
    }
    this.#hold(piece.subarray(start));
    if (this.#heldBytes > longestEvent) blocks.push(this.end());
    return blocks;
  }

  /** What has come of an event that has no end yet. It is held no more. */
  end(): Buffer {
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    return bytes;
  }

  #hold(piece: Buffer): void {
    if (piece.length > 0) this.#held.push(piece);
    this.#heldBytes += piece.length;
  }
}

/** Whether these four bytes end with an empty line: `\n\n`, `\r\r` or `\r\n\r\n`. */
function isEmptyLine(last: number): boolean {
  const two = last & 0xffff;
  return two === 0x0a0a || two === 0x0d0d || last === 0x0d0a0d0a;
}
