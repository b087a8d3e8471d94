import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Execution, FakeEnvironment } from '../../../test/fakes/fake-environment.ts';
import { describedActions } from '../../../test/fixtures/described-actions.ts';
import { type Answer, answered, anyReply, inTurn } from '../../../test/fixtures/model-agents.ts';
import { type AgentOptions, SearchNode, searchNodeEntry } from '../../schema/index.ts';
import { agentByName } from '../agents.ts';
import type { BranchView } from '../search/branch-view.ts';
import type { RowHolder } from '../search/held-out-rows.ts';
import { treeAgent } from './tree.ts';

/** A script that states its error as a sum, and that fails if it says so; the jitter comes from its seed. */
function execute(source: string): Execution {
  const of = (name: string) => Number(new RegExp(`^${name} = (\\S+)$`, 'm').exec(source)?.[1] ?? 0);
  if (source.includes('bug')) return { output: 'NameError: bug', exitCode: 1, seconds: 2 };
  if (!/^error = /m.test(source)) return { output: 'hello', exitCode: 0, seconds: 1 };
  const error = 10 + of('error') + 0.05 * Math.sin(77 * of('seed') + of('error'));
  const writes: Record<string, string> = source.includes('no file')
    ? {}
    : { 'submission.csv': `id,y\n${error}` };
  const shown = /^print (.*)$/m.exec(source)?.[1];
  return {
    output: (shown ?? 'validation MAE: {error}').replace('{error}', error.toFixed(4)).replace('{r2}', '0.91'),
    exitCode: 0,
    seconds: of('seconds') || 2,
    writes,
  };
}

const starter = 'seed = 0\nerror = 5.0\n';
const block = (script: string, change = 'a change') => `Change: ${change}\n\`\`\`python\n${script}\n\`\`\``;

async function search(
  answer: Answer,
  options: AgentOptions = {},
  more: { steps?: number; seconds?: number } = {},
  agent = agentByName('tree'),
) {
  const environment = new FakeEnvironment({
    ...{
      files: { 'train.py': starter },
      steps: 60,
      seconds: 600,
      actions: describedActions,
      execute,
      answer,
      ...more,
    },
    accepts: (files) => files.has('submission.csv'),
  });
  await agent.run({ environment, seed: 0, options: { portfolio: false, ...options }, reference: null });
  const nodes = new Map<number, SearchNode>();
  for (const { [searchNodeEntry]: text } of environment.notes) {
    if (text === undefined) continue;
    const node = SearchNode.parse(JSON.parse(text));
    nodes.set(node.id, node);
  }
  const handedIn = environment.selected.files;
  return {
    environment,
    nodes: [...nodes.values()],
    handedIn,
    error: Number(handedIn.get('submission.csv')?.slice(5)),
  };
}

describe('the tree agent', () => {
  it('submits the best version that a model wrote, and records all in its notes', async () => {
    const { environment, nodes, handedIn, error } = await search(
      inTurn(
        ...[4, 3, 6, 2].map((size) => block(`seed = 0\nerror = ${size}.0`, `an error of ${size}`)),
        block('seed = 0\nerror = 8.0'),
      ),
    );
    expect(handedIn.get('train.py')).toContain('error = 2.0');
    expect(error).toBeLessThan(12.1);
    expect(nodes[0]).toMatchObject({ operator: 'starter', status: 'kept', parent: null, branch: 'main' });
    expect(nodes.filter(({ status }) => status === 'kept').length).toBeGreaterThanOrEqual(4);
    expect(nodes.findLast(({ is_best }) => is_best)).toMatchObject({ change: 'an error of 2' });
    expect(environment.finalAnswer).toMatch(/Handed in is version \d+ .*an error of 2/);
  });

  it('lets a model read and experiment with tools before it submits a version', async () => {
    const call = (name: string, input: Record<string, string>) =>
      answered({ tool_calls: [{ id: 'a', name, input }], finish: 'tool_calls' });
    const { environment, nodes, handedIn } = await search(
      inTurn(
        call('Read_File', { file_name: 'train.py' }),
        call('Write_File', { file_name: 'train.py', content: 'seed = 0\nerror = 1.0\n' }),
        call('Execute_Script', { script_name: 'train.py' }),
        call('submit_version', { change: 'a smaller error' }),
      ),
      { max_attempts: 1 },
    );
    expect(nodes[1]).toMatchObject({ operator: 'draft', status: 'kept', change: 'a smaller error' });
    expect(handedIn.get('train.py')).toContain('error = 1.0');
    // One run of this version in the dialogue is enough; the others are for the noise and the selection.
    const plain = environment.executed.filter((source) => source.endsWith('seed = 0\nerror = 1.0\n'));
    expect(plain).toHaveLength(1);
    expect(environment.asked[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      text: expect.stringContaining('5.0'),
    });
  });

  it('has a failed version repaired, and shows its output', async () => {
    const { environment, nodes } = await search(
      (request) =>
        block(request.purpose === 'debug' ? 'seed = 0\nerror = 3.0' : 'bug', `by ${request.purpose}`),
      { max_attempts: 12 },
    );
    const repaired = nodes.find(({ operator, status }) => operator === 'debug' && status === 'kept');
    expect(nodes.find(({ id }) => id === repaired?.parent)).toMatchObject({ status: 'failed' });
    const asked = environment.asked.find(({ purpose }) => purpose === 'debug');
    expect(asked?.messages[1]?.text).toContain('NameError: bug');
  });

  it.each([
    ['prints a score that stands in it', 'error = 1.0\nprint validation MAE: 0.1234'],
    ['prints a score that stands in it alone', 'error = 1.0\nprint MAE: 0'],
    ['prints only another metric', 'error = 1.0\nprint validation R2: {r2}'],
    ['writes no submission', 'error = 1.0\nno file'],
    ['prints no score', 'hello'],
  ])('drops a version that %s', async (_, script) => {
    const { nodes, handedIn } = await search(inTurn(block(script)), { max_attempts: 3 });
    expect(nodes.slice(1).map(({ status }) => status)).not.toContain('kept');
    expect(handedIn.get('train.py')).toBe(starter);
  });

  it('keeps a version that prints a number of its source beside its score', async () => {
    const script = 'error = 1.0\nlr = 0.001\nprint lr 0.001: validation MAE {error}';
    const { handedIn } = await search(inTurn(block(script)), { max_attempts: 3 });
    expect(handedIn.get('train.py')).toContain(script);
  });

  it('corrects what a version claims by what it predicts of withheld rows', async () => {
    const truth = (view: BranchView) => Number(/^truth = (.*)$/m.exec(view.source ?? '')?.[1] ?? 5);
    const holder: RowHolder = {
      measure: async (view, { other }) => {
        if (Number.isNaN(truth(view))) return { problem: 'ValueError: too few rows' };
        const gain = other === '' ? null : { gain: Number(other) - truth(view), error: 0.1 };
        return { answers: String(truth(view)), gain };
      },
      submission: async () => null,
      average: async () => false,
    };
    const version = (error: number, truthful: string) => `seed = 0\nerror = ${error}\ntruth = ${truthful}`;
    const { environment, nodes, handedIn } = await search(
      inTurn(
        block(version(1, '7'), 'too good to be true'),
        block(version(3, '3'), 'honest'),
        block(version(2, 'none'), 'needs all rows'),
        block(version(9, '9'), 'worse'),
      ),
      { max_attempts: 4 },
      {},
      treeAgent(agentByName('noop'), async () => holder),
    );
    expect(nodes.slice(1).map(({ status }) => status)).toEqual(['dropped', 'kept', 'failed', 'dropped']);
    expect(nodes[1]?.score).toBeCloseTo(17, 0);
    expect(nodes[3]?.why).toContain("can't be measured on withheld rows: ValueError: too few rows");
    expect(handedIn.get('train.py')).toContain('truth = 3');
    expect(environment.asked.at(-1)?.messages[1]?.text).toMatch(/too good to be true: −2/);
    expect(environment.finalAnswer).toMatch(/On withheld rows .* 2 gained \+2 ± .* over 0\./);
  });

  it('shows a model what all branches learned, as comparisons', async () => {
    const { environment } = await search(
      inTurn(block('seed = 0\nerror = 3.0', 'less of it'), block('seed = 0\nerror = 9.0', 'more of it')),
      { max_attempts: 5 },
    );
    const text = environment.asked.at(-1)?.messages[1]?.text ?? '';
    expect(text).toMatch(/\[1, draft of 0\] less of it: \+1\.95 ± /);
    expect(text).toMatch(/more of it: −6/);
  });

  it('asks for several changes at once, and for fewer the longer none gains', async () => {
    const improvements = async (error: number, options: AgentOptions = {}) => {
      let written = 0;
      const answer: Answer = ({ purpose }) => {
        written += 1;
        return block(`seed = 0\nerror = ${purpose === 'draft' ? 4 : error - written / 4}`);
      };
      const { environment } = await search(answer, { max_attempts: 12, ...options });
      const texts = environment.asked.filter(({ purpose }) => purpose === 'improve');
      return texts.map(({ messages }) => {
        const text = messages[1]?.text ?? '';
        return text.includes('Change one thing') ? 1 : Number(/Make up to (\d)/.exec(text)?.[1]);
      });
    };
    expect(new Set(await improvements(4))).toEqual(new Set([6]));
    expect((await improvements(90)).slice(0, 6)).toEqual([6, 6, 6, 5, 5, 5]);
    expect(new Set(await improvements(90, { changes: 1 }))).toEqual(new Set([1]));
  });

  it('measures the noise only if there is time for many runs', async () => {
    const better = inTurn(block('seed = 0\nerror = 3.0'));
    const runs = async (seconds: number) =>
      (await search(better, { max_attempts: 2 }, { seconds })).environment.executed.filter(
        (source) => source !== starter && source.endsWith('error = 5.0\n'),
      ).length;
    expect(await runs(50)).toBe(0);
    expect(await runs(70)).toBe(1);
  });

  it('tells what a repaired idea gained, and no longer that it had failed', async () => {
    const { environment } = await search(
      ({ purpose }) =>
        purpose === 'debug'
          ? block('seed = 0\nerror = 3.0', 'a missing name')
          : block('seed = 0\nerror = 3.0\nbug', 'less of it'),
      { policy: 'greedy', max_attempts: 8 },
    );
    const text = environment.asked.at(-1)?.messages[1]?.text ?? '';
    expect(text).toMatch(/debug of 0\] less of it; a missing name: \+1\.9/);
  });

  it('uses the time for attempts if the best is clearly better, and nothing is left to confirm', async () => {
    const { environment, nodes } = await search(
      (_, count) => block(`seed = 0\nerror = ${count === 1 ? 2 : 9}.0`),
      {},
      { steps: 1000, seconds: 60 },
    );
    expect(nodes.length).toBeGreaterThan(24);
    expect(environment.finalAnswer).not.toContain('On fresh seeds');
    // Another run of two seconds needs a reserve of four.
    expect(environment.results.at(-1)?.budget.seconds_left).toBeLessThan(7);
  });

  it('uses single replies without tools or memory with the profile aide', async () => {
    const { environment, nodes } = await search(
      (_, count) => block(`seed = 0\nerror = ${8 - Math.min(count, 7)}.0`, `change ${count}`),
      { profile: 'aide', max_attempts: 8 },
    );
    expect(environment.asked.every(({ tools }) => tools === undefined)).toBe(true);
    expect(environment.asked.at(-1)?.messages[1]?.text).not.toContain('tried so far');
    expect(nodes.map(({ operator }) => operator).slice(1, 6)).toEqual(
      Array.from({ length: 5 }, () => 'draft'),
    );
    expect(nodes.slice(6).map(({ operator }) => operator)).toEqual(['improve', 'improve', 'improve']);
  });

  it.each(['greedy', 'bandit', 'uct', 'random'])('finds better versions by the policy %s', async (policy) => {
    const { error } = await search(
      (request, count) => {
        const before = Number(/^error = (\S+)$/m.exec(request.messages[1]?.text ?? '')?.[1] ?? 5);
        return block(`seed = 0\nerror = ${before + (count % 3 === 0 ? 1 : -1)}`, `attempt ${count}`);
      },
      { policy },
      { steps: 100 },
    );
    expect(error).toBeLessThan(14);
  });

  it('widens the search if nothing is gained, until the budget is used', async () => {
    const { environment } = await search(
      inTurn(block('seed = 0\nerror = 9.0')),
      { patience: 2 },
      { steps: 80 },
    );
    const widths = environment.notes.filter(({ Decision = '' }) => Decision.includes('Nothing gained'));
    expect(widths.length).toBeGreaterThan(2);
    expect(environment.results.at(-1)?.budget.steps_left).toBeLessThan(20);
    expect(environment.finalAnswer).toContain('the starter is submitted');
  });

  it('makes several versions in parallel', async () => {
    const { environment, nodes } = await search(inTurn(block('seed = 0\nerror = 3.0')), {
      at_once: 3,
      max_attempts: 6,
    });
    expect(nodes.length).toBeGreaterThanOrEqual(6);
    expect(nodes.every(({ status }) => status !== 'pending')).toBe(true);
    expect(environment.late).toBe(0);
  });

  it("begins with automl's version of the starter, without a model", async () => {
    const { nodes, environment } = await search(
      inTurn('nothing of use'),
      { portfolio: true },
      { steps: 120 },
    );
    expect(nodes[1]).toMatchObject({ operator: 'portfolio', parent: 0 });
    expect(environment.finalAnswer).not.toBeNull();
  });

  it('leaves a valid submission no worse than the starter, whatever a model writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyReply, { minLength: 1, maxLength: 8 }),
        fc.constantFrom('tree', 'aide'),
        fc.integer({ min: 4, max: 40 }),
        async (replies, profile, steps) => {
          const { environment, handedIn } = await search(inTurn(...replies), { profile }, { steps });
          expect(handedIn.get('submission.csv')).toBe(
            `id,y\n${execute(starter).writes?.['submission.csv']?.slice(5)}`,
          );
          expect(environment.late).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });
});
