import type { RecordedMessage, TextRef } from '../schema/index.ts';

/** The usual number of concurrent conversations: agents, actions that edit files, and those that summarise. */
const maxThreads = 4;

interface KnownCall {
  call: number;
  texts: readonly string[];
}

/** Finds which messages of a call the previous call of the same thread has sent already. */
export class ConversationRecorder {
  readonly #last = new Map<string, KnownCall>();

  /**
   * The messages in the form of an event.
   * @param thread calls with the same name usually continue each other
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

  /** Notes a call that is already in the trace, such as one that a resumed run repeats. */
  remember(thread: string, call: number, texts: readonly string[]): void {
    this.#last.delete(thread);
    this.#last.set(thread, { call, texts });
    const [oldest] = this.#last.keys();
    if (this.#last.size > maxThreads && oldest !== undefined) this.#last.delete(oldest);
  }
}

/** New messages as texts, and messages that recur in the same order as references. */
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

/** Finds the next position of a text from a given one; null if there is none. */
function finder(texts: readonly string[]): (text: string, from: number) => number | null {
  let places: Map<string, number[]> | null = null;
  return (text, from) => {
    // A conversation that simply continues, or ends, needs no table.
    if (texts[from] === text) return from;
    if (from >= texts.length) return null;
    places ??= Map.groupBy(texts.keys(), (index) => texts[index] ?? '');
    return places.get(text)?.find((index) => index >= from) ?? null;
  };
}
