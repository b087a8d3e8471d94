/** Removes a secret from a stream of bytes, even if it is split between two pieces. */
export class SecretFilter {
  readonly #secret: Buffer | null;
  /** The end of the last piece, if it may be the secret's beginning. */
  #held: Buffer = Buffer.alloc(0);

  /** @param secret null, or short like the words that local servers take as keys: nothing is removed */
  constructor(secret: string | null) {
    this.#secret = secret === null || secret.length < 8 ? null : Buffer.from(secret);
  }

  pass(piece: Buffer): Buffer {
    const secret = this.#secret;
    if (secret === null) return piece;
    let bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at))
      bytes = Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from('[key]'),
        bytes.subarray(at + secret.length),
      ]);
    const held = beginningAtEnd(bytes, secret);
    this.#held = bytes.subarray(bytes.length - held);
    return bytes.subarray(0, bytes.length - held);
  }

  end(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }
}

/** The number of bytes at the end that match the secret's beginning. */
function beginningAtEnd(bytes: Buffer, secret: Buffer): number {
  for (let length = Math.min(bytes.length, secret.length - 1); length > 0; length -= 1)
    if (bytes.subarray(bytes.length - length).equals(secret.subarray(0, length))) return length;
  return 0;
}
