import { textAgent } from '../common/dialogue/index.ts';
import { reactHead, thought } from './prompts.ts';

/** The paper's ReAct agent: each reply is a thought, an action and its input. */
export const react = textAgent({
  name: 'react',
  summary: 'Lets a language model think, act and observe, step by step.',
  entries: [thought],
  head: reactHead,
});
