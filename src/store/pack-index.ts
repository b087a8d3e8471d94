import { randomBytes } from 'node:crypto';

const fewestSlots = 2 ** 10;

/**
 * Which packs may have a content: the first 4 bytes of each id, with the number of its pack, in a hash table. An entry
 * takes 16 to 32 bytes.
 */
export class PackIndex<Pack> {
  #packs: Pack[] = [];
  #prefixes = new Uint32Array(fewestSlots);
  /** From 1; 0: the slot is free. */
  #numbers = new Uint32Array(fewestSlots);
  #size = 0;
  /** Random, or the author of many contents could choose them so that they share slots. */
  readonly #factor = randomBytes(4).readUInt32BE() | 1;

  get size(): number {
    return this.#size;
  }

  /** A pack may be added in pieces. */
  add(pack: Pack, prefixes: Iterable<number>): void {
    const number = this.#packs.push(pack);
    for (const prefix of prefixes) {
      if (this.#size >= this.#numbers.length / 2) this.#grow();
      this.#put(prefix, number);
      this.#size += 1;
    }
  }

  /** Nearly always one or none. */
  *packsWith(prefix: number): Generator<Pack> {
    for (let slot = this.#slotOf(prefix); ; slot = this.#after(slot)) {
      const pack = this.#packs[(this.#numbers[slot] ?? 0) - 1];
      if (pack === undefined) return;
      if (this.#prefixes[slot] === prefix) yield pack;
    }
  }

  #put(prefix: number, number: number): void {
    let slot = this.#slotOf(prefix);
    while (this.#numbers[slot] !== 0) slot = this.#after(slot);
    this.#prefixes[slot] = prefix;
    this.#numbers[slot] = number;
  }

  #slotOf(prefix: number): number {
    return Math.imul(prefix, this.#factor) >>> (Math.clz32(this.#numbers.length) + 1);
  }

  #after(slot: number): number {
    return (slot + 1) % this.#numbers.length;
  }

  #grow(): void {
    const [prefixes, numbers] = [this.#prefixes, this.#numbers];
    this.#prefixes = new Uint32Array(2 * prefixes.length);
    this.#numbers = new Uint32Array(2 * numbers.length);
    // An iterator took 20 ms for 100,000 contents, during which no run goes on.
    for (let slot = 0; slot < numbers.length; slot++) {
      const number = numbers[slot] ?? 0;
      if (number > 0) this.#put(prefixes[slot] ?? 0, number);
    }
  }
}
