import type { ActionDescription } from '../../environment/index.ts';
import type { Lesson, TaskBrief } from '../../schema/index.ts';
import type { Taken } from '../common/careful-steps.ts';
import { listActions } from '../common/dialogue/index.ts';
import { taskText } from '../common/task-text.ts';

/** The labels of the zero-shot ReAct format, as LangChain's agents have them. */
export function instructions(
  actions: readonly ActionDescription[],
  task: TaskBrief,
  lessons?: readonly Lesson[],
): string {
  const tools = actions.filter(({ name }) => name !== 'Final Answer');
  return `Solve the research task below as well as you can. You have these tools:

${listActions(tools)}

Use this format, each label at the start of a line:

Thought: what you know by now, and what to do next
Action: one of ${tools.map(({ name }) => name).join(', ')}
Action Input: the arguments of that tool as one JSON object
Observation: the result; it is given to you, never write it yourself
(repeat these four as often as needed)
Thought: there is nothing more to do
Final Answer: what you did and what resulted; this ends the work, and the submission in the workspace is graded

A number is a result only if an observation shows it. Each action uses one step of a limited budget.

${taskText(task, 'whole', lessons)}`;
}

/** The text before the scratchpad. */
export function opening(state: string): string {
  return `${state}\nBegin.`;
}

/**
 * The result of an action, as the model sees it.
 * @param state the run's state, as `StateTracker` describes it
 */
export function observationText({ status, observation }: Taken, state: string): string {
  const ending = status === 'ok' ? '' : `\n[${status}]`;
  return `${observation}${ending}\n[${state}]`;
}

export function leftOut(steps: number): string {
  return `(${steps} earlier steps are omitted)\n`;
}

export const cutOff =
  'The reply was cut off at its length limit and was not executed. Write less in one reply.';
