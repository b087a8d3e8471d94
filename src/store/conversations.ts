import { UserError } from '../lib/errors.ts';
import type { EventOf, RecordedMessage, TextRef } from '../schema/index.ts';

/**
 * No model reads that many. Calls that each repeat the messages of the one before twice would soon exceed any memory.
 */
const maxMessages = 100_000;

/** Messages of an earlier conversation: from one index up to another. */
interface Range {
  of: Conversation;
  from: number;
  to: number;
}

/** A part of a conversation, and where it begins in it. */
interface Part {
  start: number;
  content: TextRef | Range;
}

/** The messages of one model call, in order. Messages shared with earlier calls are in memory only once. */
export class Conversation implements Iterable<TextRef> {
  readonly length: number;
  readonly #parts: readonly Part[];

  constructor(parts: readonly Part[], length: number) {
    this.#parts = parts;
    this.length = length;
  }

  /** Takes time proportional to its messages and the calls that first sent them. */
  *[Symbol.iterator](): Generator<TextRef> {
    // Not recursive, because each call of a long run continues the one before. A stack: the next part is last.
    const coming: (TextRef | Range)[] = [{ of: this, from: 0, to: this.length }];
    for (let next = coming.pop(); next !== undefined; next = coming.pop()) {
      if ('of' in next) coming.push(...next.of.#contentOf(next).reverse());
      else yield next;
    }
  }

  #contentOf({ from, to }: Range): (TextRef | Range)[] {
    return this.#parts.flatMap(({ start, content }): (TextRef | Range)[] => {
      if (!('of' in content)) return start >= from && start < to ? [content] : [];
      const begin = Math.max(content.from, content.from + from - start);
      const end = Math.min(content.to, content.from + to - start);
      return begin < end ? [{ of: content.of, from: begin, to: end }] : [];
    });
  }
}

/**
 * Reconstructs the messages of each call while a trace is read from its beginning, as calls refer to earlier ones. The
 * memory for all conversations grows linearly with the trace, not with its square.
 */
export class Conversations {
  readonly #byCall = new Map<number, Conversation>();

  /** @throws UserError `broken_file` if it refers to messages that no earlier call has sent, or has too many */
  of({ call, messages }: Pick<EventOf<'model_call'>, 'call' | 'messages'>): Conversation {
    let length = 0;
    const parts = messages.map((message): Part => {
      const content = this.#content(call, message);
      const start = length;
      length += 'of' in content ? content.to - content.from : 1;
      return { start, content };
    });
    if (length > maxMessages) throw tooLong(call);
    const conversation = new Conversation(parts, length);
    this.#byCall.set(call, conversation);
    return conversation;
  }

  #content(call: number, message: RecordedMessage): TextRef | Range {
    if (!('call' in message)) return message;
    const { from, count } = message;
    const of = this.#byCall.get(message.call);
    if (of !== undefined && from + count <= of.length) return { of, from, to: from + count };
    throw new UserError(
      'broken_file',
      `model call ${call} refers to messages ${from + 1} to ${from + count} of call ${message.call}, which the trace does not contain`,
      'Restore the trace from a backup, or delete the run and start it again.',
    );
  }
}

function tooLong(call: number): UserError {
  return new UserError(
    'broken_file',
    `model call ${call} has more than ${maxMessages} messages`,
    'Restore the trace from a backup, or delete the run and start it again.',
  );
}
