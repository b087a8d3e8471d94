import { replyFormat } from '../common/dialogue/index.ts';

export const thought = 'Thought';

/** The whole prompt before the first step. */
export function reactHead(task: string, actions: string): string {
  return [
    'You solve a machine-learning problem in a workspace, one action at a time. These actions are available:',
    actions,
    `The problem:\n\n${task}`,
    'Before each action, think about what the last observation means and what to do next. Rely only on what',
    'observations show. Measure a baseline before you try to improve on it. Do not install packages. When you are',
    'done, and have checked your work, end with the action Final Answer. You can use it only once.',
    replyFormat([[thought, 'what the last observation tells you, and what you will do next and why']]),
  ].join('\n\n');
}
