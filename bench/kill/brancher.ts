import type { Agent } from '../../src/agents/index.ts';
import type { Branch, Gate, StepResult } from '../../src/environment/index.ts';
import type { Marks } from './marks.ts';

/** Only for its name: agents are registered, and this one exists for measuring. */
export const brancherName = 'brancher';

/** Calls models, forks, works on several branches in parallel, selects. With `short`, as little of each as possible. */
export function brancher(marks: Marks): Agent {
  return {
    name: brancherName,
    summary: 'Does a bit of everything that can be interrupted.',
    needs: { model: true, reference: false },
    options: { short: { description: 'as little as can be', default: false } },
    async run({ environment, seed, options }) {
      const write = (branch: Branch, content: string) =>
        branch.step({ name: 'Write File', args: { file_name: 'plan.txt', content } });
      const train = (branch: Branch) =>
        branch.step({ name: 'Execute Script', args: { script_name: 'train.py' } });
      let selections = 0;
      const select = (branch: Branch) => {
        selections += 1;
        marks.begin(`select ${selections}`);
        environment.select(branch);
        marks.end(`select ${selections}`);
      };
      const fork = async (from: Branch, id: string, content: string, at?: number) => {
        marks.begin(`fork ${id}`);
        const branch = await from.fork(at);
        await write(branch, content);
        marks.end(`fork ${id}`);
        return branch;
      };
      const end = (): Promise<StepResult> =>
        environment.step({ name: 'Final Answer', args: { final_answer: `seed ${seed}` } });

      await write(environment, `seed ${seed}`);
      if (options.short === true) {
        const only = await fork(environment, 'b1', 'only');
        await train(only);
        select(only);
        await end();
        return;
      }
      await ask(environment, 'What next?');
      await environment.step({ name: 'List Files', args: { dir_path: '.' } });
      const [first, second] = await Promise.all([
        fork(environment, 'b1', 'first', 1),
        fork(environment, 'b2', 'second'),
      ]);
      select(second);
      await Promise.all([train(first), ask(environment, 'And the second?').then(() => train(second))]);
      const third = await fork(first, 'b3', 'third');
      await third.step({ name: 'Search Files', args: { pattern: 'seed' } });
      await third.step({
        name: 'Edit Script (AI)',
        args: { script_name: 'more.py', edit_instruction: 'print a number', save_name: 'more.py' },
      });
      select(seed % 2 === 0 ? third : first);
      await end();
    },
  };
}

async function ask(environment: Parameters<Agent['run']>[0]['environment'], text: string): Promise<void> {
  await environment.ask({ role: 'agent', purpose: 'plan', messages: [{ role: 'user', text }] });
}

/** The decision on an action, whoever makes it: always the same. */
export function verdictOn({ name }: { name: string }): 'allow' | 'deny' | 'replace' {
  if (name === 'Search Files') return 'deny';
  return name === 'List Files' ? 'replace' : 'allow';
}

export const replacement = { name: 'Check Budget', args: {} };

/** Decides in the process of the run, after some time. */
export function gateOf(marks: Marks): Gate {
  return async (proposed) => {
    marks.begin('gate');
    await new Promise((resolve) => setTimeout(resolve, 15));
    marks.end('gate');
    const actor = 'bench';
    const verdict = verdictOn(proposed);
    if (verdict === 'deny') return { kind: verdict, actor, reason: 'as always' };
    return verdict === 'replace' ? { kind: verdict, actor, action: replacement } : { kind: verdict, actor };
  };
}
