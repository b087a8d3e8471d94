import { fenced, replyFormat } from '../common/dialogue/index.ts';

export const planEntry = 'Research Plan and Status';

/** The entries that a reply can have besides the action, in order, and the purpose of each. */
export const entryPurposes: ReadonlyMap<string, string> = new Map([
  ['Reflection', 'what the last observation means; where something failed, why, and how to find out'],
  [
    planEntry,
    'the whole plan, with what is done, what is under way and what was found out so far. Keep it from turn to turn, ' +
      'unless you change it on purpose, and put what is new between double asterisks **so**',
  ],
  [
    'Fact Check',
    `each new statement of the ${planEntry}, and whether the last observation confirms it or it is a guess`,
  ],
  ['Thought', 'what you do now, with which action, and why'],
]);

/** The whole prompt before the first step. */
export function researchHead(task: string, actions: string, entries: readonly string[]): string {
  const format = entries.map((name) => [name, entryPurposes.get(name) ?? ''] as const);
  return [
    'You are a researcher in machine learning. You work in a workspace, one action at a time. These are the actions:',
    actions,
    `The research problem:\n\n${task}`,
    ['How to work:', ...instructions(entries.includes(planEntry))].join('\n- '),
    replyFormat(format),
  ].join('\n\n');
}

function instructions(hasPlan: boolean): string[] {
  const ofPlan = [
    `Begin with a plan: what to find out and what to try, in which order. Keep it in ${planEntry}, and keep that short.`,
    `${planEntry} may hold only what an observation has confirmed. What you expect is no result.`,
  ];
  return [
    ...(hasPlan ? ofPlan : ['Begin with a plan: what to find out and what to try, in which order.']),
    'A score counts only once a script has printed it. Never state one that you have not seen.',
    'Measure where you start from before you try to do better, and change what you can compare.',
    'Go the straight way. Give the evidence before the conclusion.',
    'Do not install packages.',
    'When the problem is solved, end with the action Final Answer. It can be given once: check your work before.',
  ];
}

/** Comes above the last steps: what was found in the log. */
export function recalled(summary: string): string {
  return `What matters of all that you did before, from your research log:\n${fenced(summary)}`;
}

/** For use when the last reply lacks the plan. */
export function carriedPlan(plan: string): string {
  return `Your ${planEntry} so far:\n${fenced(plan)}`;
}

/** Asks the fast model for the log's summary of one step. */
export function stepSummaryPrompt(reply: string, observation: string): string {
  return [
    'A researcher took this step:',
    fenced(reply),
    'and observed:',
    fenced(observation),
    'Write its record for the research log, as short as it can be without losing a number, a name or an error:',
    '[Reasoning]: why the step was taken',
    '[Action]: what was done, with all that is needed to repeat it',
    '[Observation]: what was observed',
    'Record only what stands above. No guesses, no advice.',
  ].join('\n');
}

/** Asks the fast model which parts of the log matter now. */
export function recallPrompt(problem: string, plan: string, log: string): string {
  return [
    `This research problem is being worked on:\n${problem.trim()}`,
    `The plan at present:\n${fenced(plan)}`,
    `The research log:\n${fenced(log)}`,
    'List, as briefly as you can, what of the log matters for the next steps of the plan: results with their numbers,',
    'what failed and why, what lies in which file. Only what the log says.',
  ].join('\n\n');
}
