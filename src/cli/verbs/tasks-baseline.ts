import type { Verb } from '../verb.ts';
export const tasksBaseline: Verb = {
  arguments: [],
  flags: [],
  examples: [],
  run: async () => ({ text: '', json: null }),
};
