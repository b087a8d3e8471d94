import { textAgent } from '../common/dialogue/index.ts';
import { actHead } from './prompts.ts';

/** The paper's agent without any reasoning: each reply is an action and its input. */
export const act = textAgent({
  name: 'act',
  summary: 'Lets a language model act step by step, without writing any reasoning.',
  entries: [],
  head: actHead,
});
