import { writtenForms } from '../providers/index.ts';

/** Removes a secret from a stream of bytes, in every form, even if it is split between two pieces. */
export class SecretFilter {
  /** The longest first. */
  readonly #forms: readonly Buffer[];
  /** The end of the last piece, if it may be the beginning of a form. */
  #held: Buffer = Buffer.alloc(0);

  /** @param secret null, or short like the words that local servers take as keys: nothing is removed */
  constructor(secret: string | null) {
    const forms = secret === null || secret.length < 8 ? [] : writtenForms(secret);
    this.#forms = [...new Set(forms)].map((form) => Buffer.from(form)).sort((a, b) => b.length - a.length);
  }

  pass(piece: Buffer): Buffer {
    if (this.#forms.length === 0) return piece;
    const bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    const parts: Buffer[] = [];
    let from = 0;
    for (let found = this.#next(bytes, from); found !== null; found = this.#next(bytes, from)) {
      parts.push(bytes.subarray(from, found.at), mark);
      from = found.at + found.form.length;
    }
    const rest = bytes.subarray(from);
    const held = Math.max(...this.#forms.map((form) => beginningAtEnd(rest, form)));
    this.#held = rest.subarray(rest.length - held);
    const passed = rest.subarray(0, rest.length - held);
    return parts.length === 0 ? passed : Buffer.concat([...parts, passed]);
  }

  end(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }

  /** The first form from this place on; of two at the same place, the longer one. */
  #next(bytes: Buffer, from: number): { form: Buffer; at: number } | null {
    let first: { form: Buffer; at: number } | null = null;
    for (const form of this.#forms) {
      const at = bytes.indexOf(form, from);
      if (at >= 0 && (first === null || at < first.at)) first = { form, at };
    }
    return first;
  }
}

const mark = Buffer.from('[key]');

/** The number of bytes at the end that match the secret's beginning. */
function beginningAtEnd(bytes: Buffer, secret: Buffer): number {
  for (let length = Math.min(bytes.length, secret.length - 1); length > 0; length -= 1)
    if (bytes.subarray(bytes.length - length).equals(secret.subarray(0, length))) return length;
  return 0;
}
