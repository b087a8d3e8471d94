import type { Lesson, TaskBrief } from '../../schema/index.ts';
import type { Taken } from '../common/careful-steps.ts';
import { taskText } from '../common/task-text.ts';

/** @param finalAnswer the name of the tool that ends the run */
export function instructions(finalAnswer: string): string {
  return `You are a machine-learning researcher. You work alone on one task, in a folder of your own, with the tools you are given. Nobody reads along: text that you write beside your tool calls is kept as your notes, and nobody answers it. Whoever stops calling tools stops working.

How to work
- Look at the files before you change anything. Run the starter as it is, so that you know what you have to beat.
- Make one change at a time and measure it on data that was not trained on. Keep what helps; take back what does not.
- Call several tools in one reply where none of them needs the answer of another, such as reading some files. They are carried out one after another, in your order, and each is one step of your budget.
- Only a number that a tool printed is a result. Never report one that you expect, or remember from somewhere else.
- An answer that is refused or failed says what is wrong: read it before you try again.
- Long scripts take time, and the time is limited. Try with little data or few rounds first.
- Leave the files to hand in written by the last version of your script, and have them checked before you finish.
- When nothing is left to gain, or the budget nears its end, call ${finalAnswer}. What lies in the folder then is judged.

Old answers of tools may be taken out of this conversation to save room. A note then stands in their place and says what they were.`;
}

/** @param state the run's state, as `StateTracker` describes it */
export function opening(task: TaskBrief, state: string, lessons?: readonly Lesson[]): string {
  return `${taskText(task, 'whole', lessons)}\n\n## How you stand\n${state}\n\nBegin.`;
}

/** The result of a call, as the model sees it. */
export function resultText({ status, observation }: Taken): string {
  return status === 'ok' ? observation : `${observation}\n[${status}]`;
}

/** @param finalAnswer see `instructions` */
export function nudge(finalAnswer: string, wasCut: boolean): string {
  const why = wasCut
    ? 'Your reply was cut off at its length limit before it called a tool.'
    : 'That reply called no tool.';
  return `${why} Go on with a tool call, or call ${finalAnswer} if you are done.`;
}

/** For the last call of a reply that was cut off at its limit of tokens. */
export const cutCall =
  'This was not carried out: your reply reached its length limit, so the call may not be whole. Write less in one reply: ' +
  'a long file can be written in parts.';

/** Replaces an answer. */
export function compactedText(
  { action, status, text }: { action: string; status: string; text: string },
  kept: number,
): string {
  const end = text.slice(-kept).toWellFormed();
  return (
    `[Taken out to save room: the answer of ${text.length} characters to "${action}", which ended as "${status}". ` +
    `Do the same again to see all of it. Its end was:]\n…${end}`
  );
}

/** Replaces whole turns. */
export function forgottenText(turns: number, actions: readonly string[]): string {
  return (
    `[The first ${turns} turns of this conversation were taken out to save room; the files are as you left them. ` +
    `The last of what you did in them: ${actions.join('; ')}.]`
  );
}
