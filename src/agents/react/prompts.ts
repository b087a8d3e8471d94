import { replyFormat } from '../common/dialogue/index.ts';

export const thought = 'Thought';

/** The whole prompt before the first step. */
export function reactHead(task: string, actions: string): string {
  return [
    'You solve a machine-learning problem in a workspace, one action at a time. These are the actions:',
    actions,
    `The problem:\n\n${task}`,
    'Before each action, think about what the last observation means and what to do next. Believe only what an',
    'observation has shown. Measure a starting point before you try to better it. Do not install packages. When you',
    'are done, and have made sure of it, end with the action Final Answer: it can be given once.',
    replyFormat([[thought, 'what you make of the last observation, and what you do now and why']]),
  ].join('\n\n');
}
