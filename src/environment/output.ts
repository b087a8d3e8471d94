/** Characters of an observation before its middle is cut. */
export const observationCharacters = 20_000;
const headCharacters = 8_000;
const tailCharacters = 11_000;

/** Keeps head and tail of a long text and says how much was cut, and where the whole lies if it lies anywhere. */
export function cutMiddle(text: string, whole?: string): string {
  if (text.length <= observationCharacters) return text;
  const head = text.slice(0, wholeCharacter(text, headCharacters));
  const tail = text.slice(wholeCharacter(text, text.length - tailCharacters));
  return `${head}\n${cutNotice(text.length - head.length - tail.length, whole)}\n${tail}`;
}

function cutNotice(characters: number, whole?: string): string {
  return `[… ${characters} characters cut${whole === undefined ? '' : `; the whole output is in ${whole}`} …]`;
}

/** An index that does not split a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index;
}

/**
 * Collects what a command prints in bounded memory: the head as it is, the tail as it moves on, and the count between.
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

  /** The text as an observation shows it. */
  shown(whole?: string): string {
    if (!this.isCut) return this.#head;
    this.#trim();
    const tail = this.#tail.join('').slice(-tailCharacters);
    const head = this.#head.slice(0, wholeCharacter(this.#head, headCharacters));
    return `${head}\n${cutNotice(this.#length - head.length - tail.length, whole)}\n${tail}`;
  }

  #trim(): void {
    const kept = this.#tail.join('').slice(-tailCharacters);
    this.#tail = [kept];
    this.#tailLength = kept.length;
  }
}
