import { messageOf, UserError } from '../../lib/errors.ts';
import type { ShownText, TextRef } from '../../schema/index.ts';
import type { ObjectStore } from '../../store/index.ts';

/** Larger objects are not read for a page. */
const maxBytes = 2 ** 26;

/** How much of a text a page shows at first. */
export const shownLength = { long: 60_000, middle: 20_000, short: 6_000 } as const;

/** Where pages get the rest of a text from. `nowhere`: an export, which allows longer texts and has no rest. */
export type RestFrom = 'server' | 'nowhere';
const exportLength = 400_000;

/**
 * The texts of one page, cut to what is shown. Each has a name on its page, `part`, by which the full text can be
 * requested: then the page is made again, and that text is picked out.
 */
export class ShownTexts {
  readonly #objects: ObjectStore;
  readonly #restFrom: RestFrom;
  readonly #wanted: string | null;
  /** The full text that was requested; null if the page has none of that name. */
  found: string | null = null;

  constructor(objects: ObjectStore, restFrom: RestFrom = 'server', wanted: string | null = null) {
    this.#objects = objects;
    this.#restFrom = restFrom;
    this.#wanted = wanted;
  }

  /** Whether what a page leaves out can't be requested. */
  get isExport(): boolean {
    return this.#restFrom === 'nowhere';
  }

  /** A text of the trace, cut if it is long. */
  ref(part: string, ref: TextRef, length: keyof typeof shownLength): ShownText {
    const read = this.read(ref);
    return 'text' in read ? this.text(part, read.text, length) : this.unreadable(read.unreadable);
  }

  /** A text in memory. */
  text(part: string, text: string, length: keyof typeof shownLength): ShownText {
    if (part === this.#wanted) this.found = text;
    const most = this.#restFrom === 'server' ? shownLength[length] : exportLength;
    if (text.length <= most) return { text, length: text.length, part: null };
    return {
      text: wholeCharacters(text.slice(0, most)),
      length: text.length,
      part: this.#restFrom === 'server' ? part : null,
    };
  }

  unreadable(message: string): ShownText {
    return { text: '', length: 0, part: null, unreadable: message };
  }

  /** A full text of the trace, or why it can't be read: one missing object does not keep a page from being shown. */
  read(ref: TextRef): { text: string } | { unreadable: string } {
    if ('text' in ref) return { text: ref.text };
    try {
      return { text: this.#objects.getText(ref.object, maxBytes) };
    } catch (error) {
      if (!UserError.isInstance(error)) throw error;
      return { unreadable: messageOf(error) };
    }
  }
}

/** Not ending with half of a surrogate pair. */
export function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
