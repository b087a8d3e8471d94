import { replyFormat } from '../common/dialogue/index.ts';

/** The whole prompt before the first step. */
export function actHead(task: string, actions: string): string {
  return [
    'You solve a machine-learning problem in a workspace, one action at a time. These actions are available:',
    actions,
    `The problem:\n\n${task}`,
    'Rely only on what observations show. Measure a baseline before you try to improve on it. Do not install packages.',
    'When you are done, and have checked your work, end with the action Final Answer. You can use it only once.',
    replyFormat([]),
  ].join('\n\n');
}
