import type { Agent } from '../agent.ts';
import { Workspace } from '../common/workspace.ts';

/** Applies the task's reference solution: the validation agent that shows that a task can be solved. */
export const oracle: Agent = {
  name: 'oracle',
  summary: "Applies the task's reference solution: shows that the task can be solved.",
  needs: { model: false, reference: true },
  options: {},
  async run({ environment, reference }) {
    if (reference === null) throw new Error('the oracle was started without the reference solution');
    const workspace = new Workspace(environment);
    const refused: string[] = [];
    for (const [path, content] of [...reference].sort(([left], [right]) => (left < right ? -1 : 1))) {
      const written = await workspace.writeFile(path, content);
      if (written.status !== 'ok') refused.push(`${path} (${written.status})`);
    }
    const executed = await workspace.executeScript(workspace.task.entry);
    const checked = await workspace.validateSubmission();
    const trouble = refused.length === 0 ? '' : ` Not written: ${refused.join(', ')}.`;
    await workspace.finalAnswer(
      `I put the reference solution in place and ran it: it ended as "${executed.status}", ` +
        `the check of the submission as "${checked.status}".${trouble}`,
    );
  },
};
