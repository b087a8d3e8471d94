import type { Lesson, TaskBrief } from '../../schema/index.ts';
import type { Taken } from '../common/careful-steps.ts';
import { taskText } from '../common/task-text.ts';

/** @param finalAnswer the name of the tool that ends the run */
export function instructions(finalAnswer: string): string {
  return `You are a machine-learning researcher. You work alone on one task, in a workspace of your own, with the tools you are given. Nobody reads along: text that you write beside your tool calls is kept as your notes, and nobody answers it. If you stop calling tools, you stop working.

How to work
- Look at the files before you change anything. Run the starter as it is, so that you know the score to beat.
- Make one change at a time and measure it on data that was not used for training. Keep what helps; undo what does not.
- Call several tools in one reply if none of them needs the result of another, such as reading several files. They are executed in order, and each uses one step of your budget.
- A number is a result only if a tool printed it. Never report one that you expect or remember from elsewhere.
- If a call is refused or fails, its result says what is wrong: read it before you try again.
- Long scripts take time, and the time is limited. Try them with little data or few epochs first.
- Make sure that the submission was written by the final version of your script, and have it checked before you finish.
- When no further improvement is likely, or the budget is nearly used up, call ${finalAnswer}. The submission in the workspace is then graded.

Old tool results may be removed from this conversation to save space. A note then takes their place and says what they were.`;
}

/** @param state the run's state, as `StateTracker` describes it */
export function opening(task: TaskBrief, state: string, lessons?: readonly Lesson[]): string {
  return `${taskText(task, 'whole', lessons)}\n\n## Budget and state\n${state}\n\nBegin.`;
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
  return `${why} Continue with a tool call, or call ${finalAnswer} if you are done.`;
}

/** For the last call of a reply that was cut off at its limit of tokens. */
export const cutCall =
  'This was not executed: your reply reached its length limit, so the call may be incomplete. Write less in one reply: ' +
  'a long file can be written in parts.';

/** Replaces an answer. */
export function compactedText(
  { action, status, text }: { action: string; status: string; text: string },
  kept: number,
): string {
  const end = text.slice(-kept).toWellFormed();
  return (
    `[Removed to save space: the result of ${text.length} characters of "${action}", which ended as "${status}". ` +
    `Repeat the call to see all of it. It ended with:]\n…${end}`
  );
}

/** Replaces whole turns. */
export function forgottenText(turns: number, actions: readonly string[]): string {
  return (
    `[The first ${turns} turns of this conversation were removed to save space; the files are as you left them. ` +
    `Your last actions in them: ${actions.join('; ')}.]`
  );
}
