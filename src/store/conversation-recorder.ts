import type { RecordedMessage, TextRef } from '../schema/index.ts';

/** Agents, actions that edit files, and those that summarise: about so many conversations are led at a time. */
const mostThreads = 4;

interface KnownCall {
  call: number;
  texts: readonly string[];
}

/** Finds out what of a call's messages the last one of the same thread sent already. */
export class ConversationRecorder {
  readonly #last = new Map<string, KnownCall>();

  /**
   * The messages as an event holds them.
   * @param thread calls of one name usually continue each other
   * @param textRef see `TraceWriter.textRef`
   */
  record(
    thread: string,
    call: number,
    texts: readonly string[],
    textRef: (text: string) => TextRef,
  ): RecordedMessage[] {
    const earlier = this.#last.get(thread);
    this.remember(thread, call, texts);
    return earlier === undefined ? texts.map(textRef) : differences(earlier, texts, textRef);
  }

  /** Notes a call that is in the trace already, such as one that a resumed run repeats. */
  remember(thread: string, call: number, texts: readonly string[]): void {
    this.#last.delete(thread);
    this.#last.set(thread, { call, texts });
    const [oldest] = this.#last.keys();
    if (this.#last.size > mostThreads && oldest !== undefined) this.#last.delete(oldest);
  }
}

/** What is new as texts, what recurs in the same order as references. */
function differences(
  { call, texts: known }: KnownCall,
  texts: readonly string[],
  textRef: (text: string) => TextRef,
): RecordedMessage[] {
  const messages: RecordedMessage[] = [];
  const find = finder(known);
  let place = 0;
  for (let index = 0; index < texts.length; ) {
    const from = find(texts[index] ?? '', place);
    if (from === null) {
      messages.push(textRef(texts[index] ?? ''));
      index += 1;
      continue;
    }
    let count = 1;
    while (index + count < texts.length && texts[index + count] === known[from + count]) count += 1;
    messages.push({ call, from, count });
    index += count;
    place = from + count;
  }
  return messages;
}

/** Where a text stands next, from a place on; null where it does not. */
function finder(texts: readonly string[]): (text: string, from: number) => number | null {
  let places: Map<string, number[]> | null = null;
  return (text, from) => {
    // A conversation that goes on as it did, and one that comes to its end, need no table.
    if (texts[from] === text) return from;
    if (from >= texts.length) return null;
    places ??= Map.groupBy(texts.keys(), (index) => texts[index] ?? '');
    return places.get(text)?.find((index) => index >= from) ?? null;
  };
}
