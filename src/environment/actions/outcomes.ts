import type { ActionOutcome } from '../action.ts';
import type { ActionContext } from '../action-context.ts';
import type { ModelReply } from '../environment.ts';
import { cutMiddle } from '../output.ts';
import { WriteBroken } from '../workspace-files.ts';

export function done(observation: string): ActionOutcome {
  return { status: 'ok', observation };
}

export function failed(observation: string): ActionOutcome {
  return { status: 'failed', observation };
}

/** Performs a change that can be undone, even if it failed half way. */
export function edit(context: ActionContext, path: string, change: () => string): ActionOutcome {
  const before = context.remember(path);
  try {
    return { ...done(change()), undo: [before] };
  } catch (error) {
    if (!(error instanceof WriteBroken)) throw error;
    return { ...failed(`${error.message}. Undo Edit Script restores what it was.`), undo: [before] };
  }
}

/** A model's text, or the outcome of the action without it. */
export type ReplyText = { ok: true; text: string } | { ok: false; outcome: ActionOutcome };

/**
 * The text of a reply, marked if it was cut off.
 * @param failure what was not done, if there is no text
 * @param tooLong what helps if the request is too long for the model
 */
export function replyText(reply: ModelReply, failure: string, tooLong: string): ReplyText {
  if (reply.kind !== 'answered') return { ok: false, outcome: unanswered(reply, failure, tooLong) };
  const text = reply.text.trim();
  if (text === '')
    return { ok: false, outcome: failed(`${failure}: the language model's answer was empty.`) };
  const cut = reply.finish === 'length' ? "\n[cut off at the language model's limit of tokens]" : '';
  return { ok: true, text: text + cut };
}

export function outcomeOf(reply: ReplyText): ActionOutcome {
  return reply.ok ? { ...done(cutMiddle(reply.text)), byModel: true } : reply.outcome;
}

export function unanswered(
  reply: Exclude<ModelReply, { kind: 'answered' }>,
  failure: string,
  tooLong: string,
): ActionOutcome {
  switch (reply.kind) {
    case 'refused':
      // The reason may be the model's own words.
      return {
        ...failed(cutMiddle(`${failure}: the language model declined: ${reply.message}`)),
        byModel: true,
      };
    case 'context_too_long':
      return failed(`${failure}: it is longer than the language model's context. ${tooLong}`.trim());
    case 'closed':
      return failed(`${failure}: ${reply.message}`);
  }
}
