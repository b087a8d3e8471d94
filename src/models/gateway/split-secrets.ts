import { parseShallowJson } from '../../lib/shallow-json.ts';
import { keyMark, type Redactor } from '../providers/index.ts';

/** A text in a JSON value, and how to replace it. */
interface Piece {
  text: string;
  set: (text: string) => void;
}

/** Where pieces of the same text are: under the same names and indexes, whatever the lengths of these. */
class Place {
  readonly pieces: Piece[] = [];
  #below: Map<string, Place> | null = null;

  below(name: string): Place {
    this.#below ??= new Map();
    const known = this.#below.get(name) ?? new Place();
    this.#below.set(name, known);
    return known;
  }

  *all(): Generator<Place> {
    yield this;
    for (const place of this.#below?.values() ?? []) yield* place.all();
  }
}

/**
 * A request or a reply as JSON, or as a stream of events with JSON, without keys: also without those whose pieces are
 * in several events or members. What contains none stays as it is, byte for byte.
 */
export function withoutKeys(body: string, redactor: Redactor): string {
  const plain = redactor.text(body);
  const whole = parsed(plain);
  const lines = whole === undefined ? plain.split(/(\r\n|\r|\n)/) : [plain];
  const found = lines.map((line, at) => {
    const [, head = '', data = ''] =
      whole === undefined ? (/^(data: ?)(.*)$/s.exec(line) ?? []) : ['', '', line];
    const value = whole ?? parsed(data);
    return typeof value === 'object' && value !== null ? { at, head, value, isChanged: false } : null;
  });
  const root = new Place();
  for (const one of found)
    if (one !== null)
      collect(one.value, root, () => {
        one.isChanged = true;
      });
  for (const { pieces } of root.all()) if (pieces.length > 0) replaceIn(pieces, redactor);
  for (const one of found) if (one?.isChanged) lines[one.at] = one.head + JSON.stringify(one.value);
  return lines.join('');
}

function parsed(text: string): unknown {
  try {
    return parseShallowJson(text);
  } catch {
    return undefined;
  }
}

/** Collects the texts of a value by where they are. */
function collect(value: object, at: Place, changed: () => void): void {
  const indexes = ['index', 'output_index', 'content_index']
    .map((name) => Reflect.get(value, name))
    .filter((index) => typeof index === 'number');
  const here = indexes.length === 0 ? at : at.below(`#${indexes.join()}`);
  for (const [name, item] of Object.entries(value)) {
    const place = Array.isArray(value) ? here : here.below(`/${name}`);
    if (typeof item === 'object' && item !== null) collect(item, place, changed);
    if (typeof item !== 'string' || item === '') continue;
    const set = (text: string) => {
      Reflect.set(value, name, text);
      changed();
    };
    place.pieces.push({ text: item, set });
  }
}

/** Replaces each key by a mark in the piece that it begins in. */
function replaceIn(pieces: readonly Piece[], redactor: Redactor): void {
  const found = redactor.find(pieces.map(({ text }) => text).join(''));
  if (found.length === 0) return;
  let start = 0;
  let next = 0;
  for (const { text, set } of pieces) {
    const end = start + text.length;
    let left = '';
    let at = start;
    for (let key = found[next]; key !== undefined && key.from < end; key = found[next]) {
      left += text.slice(at - start, Math.max(0, key.from - start));
      if (key.from >= start) left += keyMark;
      at = Math.min(key.to, end);
      if (key.to > end) break;
      next += 1;
    }
    left += text.slice(at - start);
    if (left !== text) set(left);
    start = end;
  }
}
