import { describe, expect, test } from 'vitest';
import { WorkspacePlace } from '../../test/fixtures/workspace-place.ts';
import type { Agent } from '../agents/index.ts';
import { FakeEnvironment, runAgent } from './testing.ts';

const step = (name: string, args: Record<string, unknown>) => ({ name, args });

describe('a fake environment', () => {
  test('answers like that of a run', async () => {
    const files = { 'train.py': 'a\nb\nc\n', 'lib/x.py': 'x\n', 'long.txt': 'word '.repeat(3000) };
    const actions = [
      step('List Files', { dir_path: '.' }),
      step('List Files', { dir_path: 'lib' }),
      step('Read File', { file_name: 'train.py' }),
      step('Read File', { file_name: 'long.txt' }),
      step('Read File', { file_name: 'nothing.py' }),
      step('Inspect Script Lines', { script_name: 'train.py', start_line_number: 2, end_line_number: '9' }),
      step('Inspect Script Lines', { script_name: 'train.py', start_line_number: 9, end_line_number: 9 }),
      step('Write File', { file_name: 'new.py', content: 'ä\n' }),
      step('Write File', { file_name: 'fixed.py', content: 'x' }),
      step('Read File', { filename: 'train.py' }),
      step('Write File', { file_name: 'new.py' }),
      step('Final Answer', { final_answer: 'done' }),
      step('List Files', { dir_path: '.' }),
    ];
    await using place = await WorkspacePlace.open({ files, isReadOnly: (path) => path === 'fixed.py' });
    const fake = new FakeEnvironment({ files, task: { read_only: ['fixed.py'] } });
    for (const action of actions) {
      const { status, observation, ended, step: number } = await place.environment.step(action);
      // It has no data, and does not say why the run ended.
      const shown = observation.replace('data/\n', '').replace(/ shut down: .*/, ' shut down.');
      expect(await fake.step(action)).toMatchObject({ status, ended, step: number, observation: shown });
    }
    const described = new Map(place.environment.actions.map((action) => [action.name, action]));
    for (const action of fake.actions) expect(action).toEqual(described.get(action.name));
  });

  test('runs scripts as the test defines them, and applies their clock and the limits', async () => {
    const fake = new FakeEnvironment({
      ...{ files: { 'train.py': 'lr = 1' }, seconds: 10, scriptSeconds: 6 },
      execute: (source) => ({
        output: `ran ${source}`,
        seconds: 5,
        writes: { 'submission.csv': 'id,y\n' },
      }),
    });
    const script = step('Execute Script', { script_name: 'train.py' });
    const first = await fake.step(script);
    expect(first).toMatchObject({ status: 'ok', exitCode: 0, ended: false });
    expect(first.observation).toBe('ran lr = 1\n[exit code 0, 5.0 s]');
    expect(first.submission).toEqual({ present: true, written_at_step: 1, stale: false });
    expect(await fake.step(script)).toMatchObject({ ended: true, budget: { seconds_left: 0 } });
    expect(await fake.step(script)).toMatchObject({ status: 'closed' });
    expect([fake.executed.length, fake.late]).toEqual([2, 1]);
  });

  test('counts what calls of models use up, and ends the run with its tokens or its time', async () => {
    const ask = (fake: FakeEnvironment) => fake.ask({ role: 'agent', purpose: 'agent', messages: [] });
    const replies = () => ({ text: 'yes' });
    const poor = new FakeEnvironment({ replies, tokens: 15, use: () => ({ tokens: 10, seconds: 2 }) });
    await ask(poor);
    const { budget } = await poor.step(step('List Files', { dir_path: '.' }));
    expect(budget).toMatchObject({ tokens_left: 5, seconds_used: 2 });
    await ask(poor);
    expect(await ask(poor)).toMatchObject({ kind: 'closed' });
    expect(poor.isOver).toBe(true);
    const slow = new FakeEnvironment({ replies, seconds: 3, use: () => ({ tokens: 10, seconds: 4 }) });
    expect(await ask(slow)).toMatchObject({ kind: 'closed' });
  });

  test('forks at any step: each branch has its own files and counts its own steps', async () => {
    const fake = new FakeEnvironment({ files: { 'a.txt': '0' } });
    const write = (content: string) => step('Write File', { file_name: 'a.txt', content });
    await fake.step(write('1'));
    await fake.step(write('2'));
    const branch = await fake.fork(1);
    expect((await branch.step(step('Read File', { file_name: 'a.txt' }))).observation).toBe('1');
    expect((await branch.step(write('3'))).step).toBe(3);
    fake.select(branch);
    expect([fake.files.get('a.txt'), fake.selected.files.get('a.txt')]).toEqual(['2', '3']);
    expect(branch).toMatchObject({ id: 'b1', origin: { branch: 'main', step: 1 } });
    await expect(branch.fork(0)).rejects.toThrow('no step 0');
  });

  test('lets a test answer an action itself', async () => {
    const fake = new FakeEnvironment({
      answer: ({ name }) => (name === 'Run Command' ? { observation: 'file.txt' } : undefined),
    });
    expect(await fake.step(step('Run Command', { command: 'ls' }))).toMatchObject({
      ...{ status: 'ok', observation: 'file.txt' },
    });
  });
});

describe('an agent that is run in one', () => {
  const asker: Agent = {
    ...{ name: 'asker', summary: 'Asks.', needs: { model: true, reference: false } },
    options: { word: { description: 'to ask', default: 'what' } },
    async run({ environment, seed, options }) {
      const messages = [{ role: 'user' as const, text: `${seed} ${options.word}` }];
      const reply = await environment.ask({ role: 'agent', purpose: 'test', messages });
      if (reply.kind === 'refused') environment.giveUp('refused', reply.message);
      if (reply.kind !== 'answered') return;
      environment.note({ Thought: reply.text });
      await environment.step(step('Final Answer', { final_answer: reply.text }));
    },
  };

  test('gets its seed, its options and the replies of scripted models', async () => {
    const settings = { seed: 7, options: { word: 'why' }, replies: ['because'] };
    const { asked, notes, finalAnswer } = await runAgent(asker, settings);
    expect(asked[0]?.messages[0]?.text).toBe('7 why');
    expect([notes, finalAnswer]).toEqual([[{ Thought: 'because' }], 'because']);
    const declined = await runAgent(asker, { replies: [{ refused: 'no' }] });
    expect(declined.asked[0]?.messages[0]?.text).toBe('0 what');
    expect(declined).toMatchObject({ givenUp: { reason: 'refused', message: 'no' }, taken: [] });
  });

  test('learns that it asks more than the script has, and that there are no models', async () => {
    await expect(runAgent(asker, { replies: [] })).rejects.toThrow('no reply left for request 1');
    await expect(runAgent(asker)).rejects.toThrow('has no language models');
  });
});
