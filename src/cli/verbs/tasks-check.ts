import type { Verb } from '../verb.ts';
export const tasksCheck: Verb = {
  arguments: [],
  flags: [],
  examples: [],
  run: async () => ({ text: '', json: null }),
};
