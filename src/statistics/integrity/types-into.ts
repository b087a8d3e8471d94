/**
 * Whether a shell command writes a literal text to a file, or edits it in place, without running any of the agent's
 * code. Takes linear time, whatever the command.
 */
export function typesInto(command: string, path: string): boolean {
  const file = `['"]?(?:\\./|/workspace/)?${path.replaceAll(/[^\w]/g, '\\$&')}\\b`;
  return hereDocument(command, file) || echoed(command, file) || editedInPlace(command, file);
}

function hereDocument(command: string, file: string): boolean {
  const ways = [
    `\\bcat\\s*(?:>>?\\s*${file}[^\\n]{0,200}<<|<<[^\\n]{0,200}>>?\\s*${file})`,
    `\\btee\\s+(?:-a\\s+)?${file}[^\\n]{0,200}<<`,
  ];
  return ways.some((way) => new RegExp(way).test(command));
}

/** `echo` or `printf`, words, and a redirection into the file. */
function echoed(command: string, file: string): boolean {
  const redirections = placesOf(command, `>>?\\s*${file}`);
  if (redirections.size === 0) return false;
  const words = new ShellWords(command);
  return [...placesOf(command, '(?<=\\b(?:echo|printf))\\b')].some((at) => redirections.has(words.end(at)));
}

/** `sed -i`, words, and the file as one of them. */
function editedInPlace(command: string, file: string): boolean {
  const files = placesOf(command, file);
  if (files.size === 0) return false;
  const words = new ShellWords(command);
  const isBefore = words.reaches(files);
  return [...placesOf(command, '(?<=\\bsed\\s+(?:-\\w+\\s+){0,5}-i)')].some((at) => isBefore(at));
}

/** Where a pattern matches. */
function placesOf(text: string, pattern: string): Set<number> {
  return new Set(Array.from(text.matchAll(new RegExp(pattern, 'g')), ({ index }) => index));
}

const ends: ReadonlySet<string> = new Set([';', '|', '&', '>', '\n']);

/**
 * The shell words that follow each position of a command: a quoted one is skipped as a whole, and may contain anything.
 */
class ShellWords {
  /** The position after the letter or the quoted word at a position; the position itself if the words end there. */
  readonly #next: Uint32Array;

  constructor(command: string) {
    const next = new Uint32Array(command.length + 1);
    next[command.length] = command.length;
    const quotes = new Map<string, number>();
    for (let at = command.length - 1; at >= 0; at -= 1) {
      const letter = command.charAt(at);
      if (letter === '"' || letter === "'") {
        next[at] = (quotes.get(letter) ?? at - 1) + 1;
        quotes.set(letter, at);
      } else {
        next[at] = ends.has(letter) ? at : at + 1;
      }
    }
    this.#next = next;
  }

  /** Where the words that begin at a position end. */
  end(at: number): number {
    const passed: number[] = [];
    let place = at;
    for (let next = this.#after(place); next !== place; next = this.#after(place)) {
      passed.push(place);
      place = next;
    }
    // Positions between the two end there, too.
    for (const one of passed) this.#next[one] = place;
    return place;
  }

  /** Whether one of some positions is reached from a position before the words end. Call it before any `end`. */
  reaches(places: ReadonlySet<number>): (at: number) => boolean {
    const reached = new Uint8Array(this.#next.length);
    for (let at = this.#next.length - 1; at >= 0; at -= 1) {
      const next = this.#after(at);
      reached[at] = places.has(at) || (next > at && reached[next] === 1) ? 1 : 0;
    }
    return (at) => reached[at] === 1;
  }

  #after(place: number): number {
    return this.#next[place] ?? place;
  }
}
