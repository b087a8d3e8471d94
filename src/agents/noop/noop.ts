import type { Agent } from '../agent.ts';
import { Workspace } from '../common/workspace.ts';

/** The validation agent that shows which score a task gives without any work. */
export const noop: Agent = {
  name: 'noop',
  summary: 'Does nothing and submits: shows the score of an unchanged workspace.',
  needs: { model: false, reference: false },
  options: {},
  async run({ environment }) {
    await new Workspace(environment).finalAnswer('I did nothing.');
  },
};
