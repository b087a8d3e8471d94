import { fenced } from './history.ts';

/** Asks for the important facts in one block of a long observation. */
export function findingsPrompt(reply: string, part: string): string {
  return [
    'An assistant that works on a research problem took this turn:',
    fenced(reply),
    'What it observed is long. This is a part of it:',
    fenced(part),
    'Report, in a few sentences, what this part says that matters for the purpose of the turn. Keep numbers, names of',
    'files and error messages as they are. Report only what stands there: no guesses, no advice.',
  ].join('\n');
}

/** Asks for one report from the reports on all blocks. */
export function mergePrompt(reply: string, findings: readonly string[]): string {
  return [
    'An assistant that works on a research problem took this turn:',
    fenced(reply),
    'What it observed was long, and was reported part by part:',
    ...findings.map((finding, index) => `Part ${index + 1}:\n${fenced(finding)}`),
    'Make one short report of them, without repetition. Add nothing that is in none of them.',
  ].join('\n');
}

/** What each entry is for, and the format of a reply. */
export function replyFormat(entries: readonly (readonly [name: string, purpose: string])[]): string {
  return [
    'Answer with these entries, in this order, each label at the start of a line, and with nothing else:',
    ...entries.map(([name, purpose]) => `${name}: <${purpose}>`),
    'Action: <the name of one action, exactly as it is listed>',
    'Action Input: <the arguments of that action as one JSON object>',
    'Then stop: what comes of the action is told to you as the observation.',
  ].join('\n');
}

export const nothingDoneYet = 'You have not done anything yet. Begin.';

export function recentSteps(history: string): string {
  return `What you did last, and what you observed (oldest first):\n\n${history}`;
}

export function correction(complaint: string, labels: readonly string[]): string {
  return `Your last reply could not be used: ${complaint} Reply again, with all of these entries: ${labels.join(', ')}.`;
}

export function heldBack(objection: string): string {
  return [
    `The run was not ended yet, because ${objection}.`,
    'Mend that if you can. If you give the final answer again, it ends the run as things are.',
  ].join(' ');
}
