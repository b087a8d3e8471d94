import type { ActionDescription } from '../../environment/index.ts';
import type { Lesson, TaskBrief } from '../../schema/index.ts';
import type { Taken } from '../common/careful-steps.ts';
import { cutMiddle } from '../common/dialogue/index.ts';
import { taskText } from '../common/task-text.ts';

/** The form of a reply; the names of its entries are AutoGPT's. */
const replyForm = {
  thoughts: {
    text: 'what the last result tells you, and what you want to do next',
    reasoning: 'why that is the best thing to do',
    plan: '- the next steps\n- in short lines\n- from now to the end',
    criticism: 'what could be wrong with this, and what you may be overlooking',
    speak: 'one sentence for somebody watching over your shoulder',
  },
  command: { name: 'name of one command', args: { 'name of an argument': 'its value' } },
};

export function instructions(actions: readonly ActionDescription[]): string {
  return `You are an autonomous agent for machine-learning research. You work on your task alone, one command at a time, and make every decision yourself: there is nobody to ask or to confirm anything.

Constraints
- You see the latest steps in full; of all earlier ones you see only your memory. Save to files what must not be lost.
- Use only the commands listed below, one per reply.
- Every command uses one step of a limited budget: make each one count.
- A number is a result only if a command has printed it. Do not report any other.

Commands
${actions.map(commandText).join('\n')}

Evaluate your work
- Is the last result what you expected? If not, find out why before you continue.
- Is the plan still the best way to a better score? Did you measure the starter before changing it?
- Was the submission written by your latest script, and was it checked?
- When no further improvement is likely, or the budget is nearly used up, use "Final Answer": the submission in the workspace is then graded.

Reply with one JSON object of this form and nothing else:
${JSON.stringify(replyForm, null, 2)}`;
}

function commandText({ name, description, arguments: args }: ActionDescription): string {
  const form = Object.fromEntries(args.map((argument) => [argument.name, `<${argument.description}>`]));
  return `- "${name}": ${description} args: ${JSON.stringify(form)}`;
}

export function taskPrompt(task: TaskBrief, lessons?: readonly Lesson[]): string {
  return `Your task:\n\n${taskText(task, 'whole', lessons)}`;
}

export function memoryPrompt(summary: string): string {
  return `Your memory of the earlier steps:\n${summary}`;
}

/** @param state the run's state, as `StateTracker` describes it */
export function nextPrompt(state: string): string {
  return `${state}\nWhich command is next? Reply with the JSON object.`;
}

/** The result of a command, as the model sees it. */
export function resultText(name: string, { status, observation }: Taken, characters: number): string {
  return `The command "${name}" ended as "${status}":\n${cutMiddle(observation, characters)}`;
}

export function correctionPrompt(problem: string): string {
  return `No command was executed. ${problem} Reply again with one JSON object of the form given above and nothing else.`;
}

/** Asks for an update of the memory. */
export function summaryPrompt(summary: string, event: string, words: number): string {
  return `You maintain the memory of a research agent. Update it with the agent's latest step.

Memory so far:
${summary === '' ? '(nothing yet)' : summary}

Latest step:
${event}

Write the new memory in the past tense, in at most ${words} words. Keep what later steps may need: files created or changed and how, commands that failed and why, each score with the data it was measured on, and ideas still to try. Add nothing that is not stated above. Reply with the memory only.`;
}
