import { fenced } from './history.ts';

/** Asks for the important facts in one block of a long observation. */
export function findingsPrompt(reply: string, part: string): string {
  return [
    'An assistant working on a research problem took this turn:',
    fenced(reply),
    'The observation is long. This is one part of it:',
    fenced(part),
    'Summarize, in a few sentences, what in this part matters for the purpose of the turn. Keep numbers, file names and',
    'error messages as they are. Report only what is stated there: no guesses, no advice.',
  ].join('\n');
}

/** Asks for one report from the reports on all blocks. */
export function mergePrompt(reply: string, findings: readonly string[]): string {
  return [
    'An assistant working on a research problem took this turn:',
    fenced(reply),
    'The observation was long and was summarized part by part:',
    ...findings.map((finding, index) => `Part ${index + 1}:\n${fenced(finding)}`),
    'Combine the summaries into a short one, without repetition. Add nothing that none of them contains.',
  ].join('\n');
}

/** The purpose of each entry, and the format of a reply. */
export function replyFormat(entries: readonly (readonly [name: string, purpose: string])[]): string {
  return [
    'Reply with these entries, in this order, each label at the start of a line, and nothing else:',
    ...entries.map(([name, purpose]) => `${name}: <${purpose}>`),
    'Action: <the name of one action, exactly as listed>',
    'Action Input: <the arguments of that action as one JSON object>',
    'Then stop: the result of the action is given to you as the observation.',
  ].join('\n');
}

export const nothingDoneYet = 'You have not done anything yet. Begin.';

export function recentSteps(history: string): string {
  return `Your latest steps and what you observed (oldest first):\n\n${history}`;
}

export function correction(complaint: string, labels: readonly string[]): string {
  return `Your last reply could not be used: ${complaint} Reply again, with all of these entries: ${labels.join(', ')}.`;
}

export function heldBack(objection: string): string {
  return [
    `The run has not ended yet, because ${objection}.`,
    'Fix that if you can. If you give the final answer again, it ends the run as it is.',
  ].join(' ');
}
