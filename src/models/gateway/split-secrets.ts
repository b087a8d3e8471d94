import { parseShallowJson } from '../../lib/shallow-json.ts';
import { keyMark, type Redactor } from '../providers/index.ts';

/** A text in a JSON value, and how to replace it. */
interface Place {
  text: string;
  set: (text: string) => void;
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
  const threads = new Map<string, Place[]>();
  for (const one of found)
    if (one !== null)
      collect(one.value, '', threads, () => {
        one.isChanged = true;
      });
  for (const places of threads.values()) replaceIn(places, redactor);
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

/** Collects the texts of a value by where they belong: pieces of the same text have the same names and indexes. */
function collect(value: object, where: string, threads: Map<string, Place[]>, changed: () => void): void {
  const indexes = ['index', 'output_index', 'content_index'].flatMap((name) =>
    name in value ? [Reflect.get(value, name)] : [],
  );
  const here = indexes.length === 0 ? where : `${where}#${indexes.join()}`;
  for (const [name, item] of Object.entries(value)) {
    const place = Array.isArray(value) ? here : `${here}/${name}`;
    if (typeof item === 'object' && item !== null) collect(item, place, threads, changed);
    if (typeof item !== 'string' || item === '') continue;
    const set = (text: string) => {
      Reflect.set(value, name, text);
      changed();
    };
    const thread = threads.get(place);
    if (thread === undefined) threads.set(place, [{ text: item, set }]);
    else thread.push({ text: item, set });
  }
}

/** Replaces each key by a mark in the piece that it begins in. */
function replaceIn(places: readonly Place[], redactor: Redactor): void {
  const found = redactor.find(places.map(({ text }) => text).join(''));
  if (found.length === 0) return;
  let start = 0;
  let next = 0;
  for (const { text, set } of places) {
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
