import { fenced, replyFormat } from '../common/dialogue/index.ts';

export const planEntry = 'Research Plan and Status';

/** The entries that a reply can have besides the action, in order, and the purpose of each. */
export const entryPurposes: ReadonlyMap<string, string> = new Map([
  ['Reflection', 'what the last observation means; if something failed, why, or how to find out'],
  [
    planEntry,
    'the full plan: what is done, what is in progress, and the results confirmed so far. Carry it over from turn to ' +
      'turn, change it only on purpose, and mark what is new with double asterisks, **like this**',
  ],
  [
    'Fact Check',
    `each new statement in the ${planEntry}, and whether the last observation confirms it or it is a guess`,
  ],
  ['Thought', 'what you will do next, with which action, and why'],
]);

/** The whole prompt before the first step. */
export function researchHead(task: string, actions: string, entries: readonly string[]): string {
  const format = entries.map((name) => [name, entryPurposes.get(name) ?? ''] as const);
  return [
    'You are a machine-learning researcher. You work in a workspace, one action at a time. These actions are available:',
    actions,
    `The research problem:\n\n${task}`,
    ['How to work:', ...instructions(entries.includes(planEntry))].join('\n- '),
    replyFormat(format),
  ].join('\n\n');
}

function instructions(hasPlan: boolean): string[] {
  const ofPlan = [
    `Start with a plan: what to find out and what to try, in which order. Keep it in ${planEntry}, and keep that short.`,
    `${planEntry} may contain only results that an observation has confirmed. What you expect is not a result.`,
  ];
  return [
    ...(hasPlan ? ofPlan : ['Start with a plan: what to find out and what to try, in which order.']),
    'A score counts only after a script has printed it. Never report one that you have not seen.',
    'Measure the baseline before you try to improve on it, and make changes whose effect you can measure.',
    'Take the most direct approach. State the evidence before the conclusion.',
    'Do not install packages.',
    'When the problem is solved, end with the action Final Answer. You can use it only once, so check your work first.',
  ];
}

/** Precedes the last steps: what was found in the log. */
export function recalled(summary: string): string {
  return `What is relevant from your earlier work, according to your research log:\n${fenced(summary)}`;
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
    'Summarize it for the research log, as briefly as possible without losing a number, a name or an error:',
    '[Reasoning]: why the step was taken',
    '[Action]: what was done, with everything needed to repeat it',
    '[Observation]: what was observed',
    'Include only what is stated above. No guesses, no advice.',
  ].join('\n');
}

/** Asks the fast model which parts of the log matter now. */
export function recallPrompt(problem: string, plan: string, log: string): string {
  return [
    `This research problem is being worked on:\n${problem.trim()}`,
    `The current plan:\n${fenced(plan)}`,
    `The research log:\n${fenced(log)}`,
    'List, as briefly as you can, what in the log matters for the next steps of the plan: results with their numbers,',
    'what failed and why, and which file contains what. Include only what the log says.',
  ].join('\n\n');
}
