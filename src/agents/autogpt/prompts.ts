import type { ActionDescription } from '../../environment/index.ts';
import type { Lesson, TaskBrief } from '../../schema/index.ts';
import type { Taken } from '../common/careful-steps.ts';
import { cutMiddle } from '../common/dialogue/index.ts';
import { taskText } from '../common/task-text.ts';

/** The form of a reply; the names of its entries are AutoGPT's. */
const replyForm = {
  thoughts: {
    text: 'what you make of the last result, and what you want to do now',
    reasoning: 'why that is the best thing to do',
    plan: '- the next steps\n- in short lines\n- from now to the end',
    criticism: 'what could be wrong with this, and what you overlook',
    speak: 'one sentence for somebody who looks over your shoulder',
  },
  command: { name: 'name of one command', args: { 'name of an argument': 'its value' } },
};

export function instructions(actions: readonly ActionDescription[]): string {
  return `You are an autonomous agent for machine-learning research. You pursue your task alone, one command at a time, and decide everything yourself: nobody can be asked, and nobody confirms.

Constraints
- You see the latest steps in full and of all others only your memory. Write into files what must not be lost.
- Use the commands listed below and no others, one in each reply.
- Every command is a step of a limited budget: make each one count.
- A number is known only when a command has printed it. Do not state any other as a result.

Commands
${actions.map(commandText).join('\n')}

How to judge yourself
- Does the last result show what you expected? If not, find out why before you go on.
- Is the plan still the best way to a better score? Have you measured what the starter does before you change it?
- Is the file to hand in written by your last script, and was it checked?
- When there is nothing left to gain, or little budget left, use "Final Answer": what lies in the workspace is judged.

Reply with one JSON object of this form and with nothing else:
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
  return `Your memory of the steps before those that follow:\n${summary}`;
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
  return `No command was carried out. ${problem} Reply again with one JSON object of the form that you were given, and with nothing else.`;
}

/** Asks for an update of the memory. */
export function summaryPrompt(summary: string, event: string, words: number): string {
  return `You keep the memory of a research agent. Bring it up to date with the agent's latest step.

Memory so far:
${summary === '' ? '(nothing yet)' : summary}

Latest step:
${event}

Write the new memory, in the past tense and in at most ${words} words. Keep what later steps may need: files that were made or changed and how, commands that failed and why, each score with what it was measured on, and ideas that are still to be tried. Add nothing that does not stand above. Reply with the memory alone.`;
}
