import type { Agent } from '../agent.ts';
import { Workspace } from '../common/workspace.ts';

/** Runs the starter as it is. */
export const baseline: Agent = {
  name: 'baseline',
  summary: 'Runs the starter script unchanged and submits what it wrote.',
  needs: { model: false, reference: false },
  options: {},
  async run({ environment }) {
    const workspace = new Workspace(environment);
    const { entry } = workspace.task;
    const executed = await workspace.executeScript(entry);
    await workspace.finalAnswer(`I ran ${entry} unchanged; it ended as "${executed.status}".`);
  },
};
