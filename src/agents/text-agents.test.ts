import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeEnvironment, type FakeEnvironmentSettings } from '../../test/fakes/fake-environment.ts';
import { allActions } from '../../test/fixtures/action-descriptions.ts';
import type { ModelReply } from '../environment/index.ts';
import type { AgentOptions, ModelRequest } from '../schema/index.ts';
import { act } from './act/act.ts';
import type { Agent } from './agent.ts';
import { cutMiddle } from './common/dialogue/cut-middle.ts';
import { fenced } from './common/dialogue/history.ts';
import { react } from './react/react.ts';
import { research } from './research/research.ts';

const execute = () => ({ output: 'ran', exitCode: 0, seconds: 10, writes: { 'submission.csv': 'id,y\n' } });

function environmentOf(settings: Partial<FakeEnvironmentSettings>): FakeEnvironment {
  return new FakeEnvironment({
    files: { 'train.py': 'print(1)' },
    execute,
    actions: allActions,
    ...settings,
  });
}

/** Runs an agent with these replies in turn; the fast model gives a short answer. */
async function talk(
  agent: Agent,
  replies: readonly (string | ModelReply)[],
  { options = {}, ...settings }: Partial<FakeEnvironmentSettings> & { options?: AgentOptions } = {},
): Promise<FakeEnvironment> {
  const left = [...replies];
  const environment = environmentOf({
    answer: ({ role }) => (role === 'agent' ? (left.shift() ?? finalAnswer) : 'in short'),
    ...settings,
  });
  await agent.run({ environment, seed: 0, options, reference: null });
  return environment;
}

function reply(action: string, args: Record<string, unknown>, thought = 'so be it'): string {
  return `Thought: ${thought}\nAction: ${action}\nAction Input: ${JSON.stringify(args)}`;
}

const runScript = reply('Execute Script', { script_name: 'train.py' });
const finalAnswer = reply('Final Answer', { final_answer: 'done' });
const namesOf = ({ taken }: FakeEnvironment) => taken.map(({ name }) => name);
const agentCalls = ({ asked }: FakeEnvironment) => asked.filter(({ role }) => role === 'agent');
const tailOf = (request: ModelRequest | undefined) => request?.messages.at(-1)?.text ?? '';

describe('an agent that writes its actions as text', () => {
  it('executes the actions of the model, and ends with its final answer', async () => {
    const environment = await talk(react, [reply('List Files', { dir_path: '.' }), runScript, finalAnswer]);
    expect(environment.taken).toEqual([
      { name: 'List Files', args: { dir_path: '.' } },
      { name: 'Execute Script', args: { script_name: 'train.py' } },
      { name: 'Final Answer', args: { final_answer: 'done' } },
    ]);
    expect(environment.notes).toEqual(Array(3).fill({ Thought: 'so be it' }));
  });

  it('sends a constant first message, and everything that changes after it', async () => {
    const environment = await talk(react, [runScript, runScript, finalAnswer]);
    const heads = new Set(environment.asked.map(({ messages }) => JSON.stringify(messages[0])));
    expect(heads.size).toBe(1);
    for (const { messages, stop } of environment.asked) {
      expect(messages).toMatchObject([{ role: 'system', stable: true }, { role: 'user' }]);
      expect(messages[1]).not.toHaveProperty('stable');
      expect(stop).toEqual(['\nObservation:']);
    }
    const head = environment.asked[0]?.messages[0]?.text ?? '';
    expect(head).toContain('Make it better.');
    expect(head).toContain(
      '- Edit File: What Edit File does.\n  Action Input: {"file_name": <the file_name>',
    );
  });

  it('has the entries of its kind: none for act, a thought for react', async () => {
    const bare = 'Action: Execute Script\nAction Input: {"script_name": "train.py"}';
    expect(namesOf(await talk(act, [bare, finalAnswer]))).toEqual(['Execute Script', 'Final Answer']);
    const head = async (agent: Agent) => (await talk(agent, [])).asked[0]?.messages[0]?.text;
    expect(await head(act)).not.toContain('Thought:');
    expect(await head(react)).toContain('Thought:');
  });

  it('lists the actions of its options, and executes others that the model requests', async () => {
    const options = { actions: 'list files, Execute Script', hidden_actions: 'List Files' };
    const replies = [reply('Read File', { file_name: 'train.py' }), runScript, finalAnswer];
    const environment = await talk(react, replies, { options });
    const head = environment.asked[0]?.messages[0]?.text ?? '';
    expect(head).toContain('- Execute Script:');
    expect(head).not.toMatch(/- List Files:|- Read File:/);
    expect(namesOf(environment)).toEqual(['Read File', 'Execute Script', 'Final Answer']);
  });

  it('shows the last steps, and only the newest of them with their observations', async () => {
    const steps = [1, 2, 3, 4, 5].map((count) =>
      reply('Read File', { file_name: `file-${count}` }, `thought ${count}`),
    );
    const files = Object.fromEntries([1, 2, 3, 4, 5].map((count) => [`file-${count}`, `text ${count}`]));
    const options = { steps_in_context: 3, observations_in_context: 2 };
    const environment = await talk(react, steps, { files, options });
    const tail = tailOf(environment.asked[5]);
    expect(tail.match(/thought \d/g)).toEqual(['thought 3', 'thought 4', 'thought 5']);
    expect(tail.match(/text \d/g)).toEqual(['text 4', 'text 5']);
    expect(tail).toContain('Observation: (left out)');
    const none = await talk(react, steps, { files, options: { steps_in_context: 0 } });
    expect(tailOf(none.asked[5])).not.toContain('thought');
  });

  it('lets the fast model summarise long observations block by block, and merges the summaries', async () => {
    const output = 'x'.repeat(12_000);
    const settings = { execute: () => ({ ...execute(), output }) };
    const environment = await talk(react, [runScript, finalAnswer], settings);
    const fast = environment.asked.filter(({ role }) => role === 'fast');
    expect(fast.map(({ purpose }) => purpose)).toEqual(Array(3).fill('summarise an observation'));
    expect(fast[0]?.messages[0]?.text).toContain('x'.repeat(10_000));
    expect(fast[2]?.messages[0]?.text).toContain('Part 2:');
    expect(tailOf(agentCalls(environment)[1])).toContain('in short');
    const options = { summarise_over: 0 };
    const whole = await talk(react, [runScript, finalAnswer], { ...settings, options });
    expect(whole.asked.map(({ role }) => role)).not.toContain('fast');
    expect(tailOf(whole.asked[1])).toContain(output);
  });

  it('shows the content of a file unchanged, because an edit may have to quote it exactly', async () => {
    const files = { long: 'x'.repeat(12_000) };
    const environment = await talk(react, [reply('Read File', { file_name: 'long' })], { files });
    expect(environment.asked.map(({ role }) => role)).not.toContain('fast');
    expect(tailOf(environment.asked[1])).toContain(files.long);
  });

  it('leaves out the middle of a long observation if the fast model returns nothing', async () => {
    const replies = [runScript, finalAnswer];
    const environment = await talk(react, [], {
      execute: () => ({ ...execute(), output: `begin${'x'.repeat(9000)}end` }),
      answer: ({ role }) => {
        if (role === 'fast') return { kind: 'refused', message: 'no' };
        return replies.shift() ?? finalAnswer;
      },
    });
    expect(tailOf(agentCalls(environment)[1])).toMatch(/begin[\s\S]*characters left out[\s\S]*end/);
  });
});

describe('act and react as in the paper', () => {
  it.each([
    ['act', act],
    ['react', react],
  ])(
    '%s is shown only the paper’s actions and the problem, and format errors cost no step',
    async (_, agent) => {
      const environment = await talk(agent, Array(5).fill('hello'), { options: { profile: 'paper' } });
      expect(environment.taken).toEqual([]);
      expect(environment.givenUp).toMatchObject({ reason: 'reply_format' });
      expect(environment.asked).toHaveLength(5);
      const head = environment.asked[0]?.messages[0]?.text ?? '';
      expect(head).toContain('- Edit Script (AI)');
      expect(head).not.toContain('- Edit File');
      expect(head).not.toContain('- Submission:');
      expect(tailOf(environment.asked[0])).not.toContain('Remaining budget');
    },
  );

  it('they stop after 50 steps', async () => {
    const options = { profile: 'paper', turns: 3 };
    const environment = await talk(act, Array(9).fill(runScript), { options });
    expect(environment.taken).toHaveLength(3);
  });
});

describe('a reply that cannot be used', () => {
  it('counts as a step, so that the environment says what is wrong', async () => {
    const environment = await talk(react, [
      'I would rather talk.',
      'Thought: x\nAction: Read File\nAction Input: {"file": 1',
    ]);
    expect(environment.taken.slice(0, 2)).toEqual([
      { name: '(none)', args: {} },
      { name: 'Read File', args: {} },
    ]);
    expect(environment.results[0]?.status).toBe('invalid');
    expect(environment.notes[0]).toHaveProperty('Format error');
    expect(tailOf(environment.asked[1])).toContain('There is no action "(none)".');
  });

  it('is recorded with the name that the model wrote, even if no action has it', async () => {
    const environment = await talk(react, [
      reply('Open Sesame', { file_name: 'a' }),
      finalAnswer,
      finalAnswer,
    ]);
    expect(namesOf(environment)[0]).toBe('Open Sesame');
  });

  it('is forgotten once a later one is well formed', async () => {
    const environment = await talk(react, ['nonsense', runScript, runScript]);
    expect(tailOf(environment.asked[1])).toContain('(none)');
    expect(tailOf(environment.asked[2])).not.toContain('(none)');
  });

  it('ends the run when too many are consecutive, but not when valid ones are in between', async () => {
    const bad = await talk(react, Array(9).fill('nonsense'));
    expect(bad.givenUp).toMatchObject({ reason: 'reply_format' });
    expect(bad.taken).toHaveLength(5);
    const mixed = await talk(
      react,
      Array.from({ length: 20 }, (_, index) => (index % 4 ? 'nonsense' : runScript)),
    );
    expect(mixed.givenUp).toBe(null);
    expect(mixed.finalAnswer).toBe('done');
  });
});

describe('the state of the run in the prompt', () => {
  it('has the budget, at each turn', async () => {
    const environment = await talk(react, [runScript, finalAnswer], { steps: 9, seconds: 500 });
    expect(tailOf(environment.asked[0])).toContain('Remaining budget: 9 steps, 8 min');
    expect(tailOf(environment.asked[1])).toContain('Remaining budget: 8 steps, 8 min');
  });

  it('has the state of the submission: missing, accepted, changed since, stale', async () => {
    const check = reply('Validate Submission', {});
    let runs = 0;
    const environment = await talk(
      react,
      [runScript, check, runScript, runScript, finalAnswer, finalAnswer],
      {
        execute: () => {
          runs += 1;
          return { output: '', exitCode: 0, seconds: 1, writes: runs < 3 ? { 'submission.csv': '1' } : {} };
        },
      },
    );
    const states = environment.asked.map((request) => /Submission: .*/.exec(tailOf(request))?.[0]);
    expect(states[0]).toBe('Submission: there is none in the workspace (submission.csv).');
    expect(states[1]).toBe('Submission: written in step 1; not checked yet.');
    expect(states[2]).toBe('Submission: written in step 1; the check accepted it (step 2).');
    expect(states[3]).toContain('written in step 3; not checked since; the last one that the check accepted');
    expect(states[4]).toContain('It is stale');
  });

  it('says once that the final answer comes without a fresh submission', async () => {
    const environment = await talk(react, [finalAnswer, finalAnswer]);
    expect(environment.asked).toHaveLength(2);
    expect(tailOf(environment.asked[1])).toContain('there is no submission in the workspace');
    expect(namesOf(environment)).toEqual(['Final Answer']);
  });
});

describe('a conversation that cannot continue', () => {
  const tooLong: ModelReply = { kind: 'context_too_long', message: 'too many tokens' };

  it('is shortened step by step if it is too long, and continues', async () => {
    const files = { big: `a${'b'.repeat(4900)}c` };
    const read = reply('Read File', { file_name: 'big' });
    const replies = [read, read, read, tooLong, tooLong, runScript, finalAnswer];
    const environment = await talk(react, replies, { files: { ...files, 'train.py': '' } });
    expect(namesOf(environment)).toEqual([...Array(3).fill('Read File'), 'Execute Script', 'Final Answer']);
    const lengths = environment.asked.slice(3, 6).map((request) => tailOf(request).length);
    expect(lengths[0]).toBeGreaterThan(14_700);
    expect(lengths[1]).toBeLessThan(7_000);
    expect(lengths[2]).toBeLessThan(lengths[1] ?? 0);
  });

  it('ends as the context limit if nothing more can be left out', async () => {
    const environment = await talk(react, [runScript, ...Array(9).fill(tooLong)]);
    expect(environment.givenUp).toMatchObject({ reason: 'context_limit' });
    expect(environment.asked).toHaveLength(5);
  });

  it('ends as refused if the model declines', async () => {
    const environment = await talk(react, [{ kind: 'refused', message: 'not this' }]);
    expect(environment.givenUp).toMatchObject({
      reason: 'refused',
      message: expect.stringContaining('not this'),
    });
  });
});

describe('whatever the models say', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc
      .array(
        fc.constantFrom(
          ...[
            'Thought: ',
            '\nAction: ',
            '\nAction Input: ',
            'Execute Script',
            'Final Answer',
            '{"script_name"',
            '}',
          ],
          ...[
            'Research Plan and Status: ',
            '**',
            '__proto__',
            ': "train.py"',
            '```',
            '\n',
            'Observation:',
            '\ud800',
          ],
        ),
        { maxLength: 16 },
      )
      .map((parts) => parts.join('')),
    fc.constantFrom(runScript, reply('Read File', { file_name: 'x' })),
  );
  const said = fc.oneof(
    { weight: 8, arbitrary: text as fc.Arbitrary<string | ModelReply> },
    {
      weight: 1,
      arbitrary: fc.constantFrom<ModelReply>(
        { kind: 'refused', message: 'no' },
        { kind: 'context_too_long', message: 'long' },
        { kind: 'answered', text: '', tool_calls: [], finish: 'length' },
      ),
    },
  );
  const choices = fc.constantFrom<[Agent, AgentOptions]>(
    ...([
      [act, {}],
      [react, {}],
      [research, {}],
      [research, { profile: 'paper' }],
      [research, { profile: 'paper', retrieval: false }],
      [research, { entries: 'Thought', steps_in_context: 0, observations_in_context: 0, summarise_over: 1 }],
    ] as [Agent, AgentOptions][]),
  );

  it('an agent ends within the limits of its run, and never throws', async () => {
    await fc.assert(
      fc.asyncProperty(
        choices,
        fc.array(said, { minLength: 1, maxLength: 12 }),
        async ([agent, options], all) => {
          const environment = environmentOf({ steps: 12, answer: (_, count) => all[count % all.length] });
          await agent.run({ environment, seed: 0, options, reference: null });
          expect(environment.taken.length).toBeLessThanOrEqual(12);
          expect(environment.late).toBeLessThanOrEqual(2);
          for (const { messages } of environment.asked)
            for (const message of messages) expect(message.text.isWellFormed()).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('texts that are cut or fenced', () => {
  it('keep both ends, and never grow by more than the notice', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.integer({ min: 10, max: 100 }),
        (text, most) => {
          const cut = cutMiddle(text, most);
          expect(cut.length).toBeLessThanOrEqual(Math.max(text.length, most + 40));
          if (text.length <= most) expect(cut).toBe(text);
          else expect(cut).toContain('characters left out');
        },
      ),
    );
  });

  it('cannot close their fence', () => {
    expect(fenced('a\n```\nb')).toBe('````\na\n```\nb\n````');
  });
});
