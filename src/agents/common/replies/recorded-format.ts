import type { ReplyFormat } from './labels.ts';

/** The format that the paper's agent requested in the recorded runs. */
export const recordedFormat: ReplyFormat = {
  entries: ['Reflection', 'Research Plan and Status', 'Fact Check', 'Thought'],
};
