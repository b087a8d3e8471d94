/** Splits the bytes of an event stream into whole events, each with the empty line that ends it. */
export class EventBlocks {
  #rest: Buffer = Buffer.alloc(0);

  add(piece: Buffer): Buffer[] {
    let bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const blocks: Buffer[] = [];
    for (let end = blockEnd(bytes); end > 0; end = blockEnd(bytes)) {
      blocks.push(bytes.subarray(0, end));
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
    return blocks;
  }

  end(): Buffer {
    return this.#rest;
  }
}

/** The position after the first empty line; 0 if there is none. */
function blockEnd(bytes: Buffer): number {
  const ends = ['\n\n', '\r\n\r\n', '\r\r'].flatMap((mark) => {
    const at = bytes.indexOf(mark);
    return at < 0 ? [] : [at + mark.length];
  });
  return ends.length === 0 ? 0 : Math.min(...ends);
}
