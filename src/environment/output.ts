/** Characters of an observation before its middle is cut. */
export const observationCharacters = 20_000;
export const headCharacters = 8_000;
export const tailCharacters = 11_000;

/** Keeps head and tail of a long text and says how much was cut. */
export function cutMiddle(text: string): string {
  if (text.length <= observationCharacters) return text;
  const head = text.slice(0, wholeCharacter(text, headCharacters));
  const tail = text.slice(wholeCharacter(text, text.length - tailCharacters));
  return `${head}\n${cutNotice(text.length - head.length - tail.length)}\n${tail}`;
}

function cutNotice(characters: number, where?: string): string {
  return `[… ${characters} characters cut${where === undefined ? '' : `; ${where}`} …]`;
}

/** An index that does not split a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return index > 0 && unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}

/**
 * Collects a command's output in bounded memory: the head, the moving tail, and the number of characters between them.
 */
export class OutputKeeper {
  #head = '';
  #tail: string[] = [];
  #tailLength = 0;
  #length = 0;

  add(text: string): void {
    this.#length += text.length;
    const room = observationCharacters - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    this.#tail.push(text);
    this.#tailLength += text.length;
    if (this.#tailLength > 8 * tailCharacters) this.#trim();
  }

  get length(): number {
    return this.#length;
  }

  get isCut(): boolean {
    return this.#length > observationCharacters;
  }

  /**
   * The text as an observation shows it.
   * @param where a clause that says where the whole output is
   */
  shown(where?: string): string {
    if (!this.isCut) return this.#head;
    this.#trim();
    const end = this.#tail.join('');
    const tail = end.slice(wholeCharacter(end, Math.max(0, end.length - tailCharacters)));
    const head = this.#head.slice(0, wholeCharacter(this.#head, headCharacters));
    return `${head}\n${cutNotice(this.#length - head.length - tail.length, where)}\n${tail}`;
  }

  #trim(): void {
    // One character more, to see whether the first one of the tail is complete.
    const kept = this.#tail.join('').slice(-tailCharacters - 1);
    this.#tail = [kept];
    this.#tailLength = kept.length;
  }
}
