import { describe, expect, it } from 'vitest';
import { FakeEnvironment, type FakeEnvironmentSettings } from '../../../test/fakes/fake-environment.ts';
import { allActions, paperActions } from '../../../test/fixtures/action-descriptions.ts';
import { UserError } from '../../lib/errors.ts';
import type { AgentOptions, ModelRequest } from '../../schema/index.ts';
import { research } from './research.ts';

interface Reply {
  action: string;
  args: Record<string, unknown> | string;
  plan?: string;
}

function write({ action, args, plan = 'look, then try' }: Reply): string {
  const input = typeof args === 'string' ? args : JSON.stringify(args);
  return [
    'Reflection: fine',
    `Research Plan and Status: ${plan}`,
    'Fact Check: confirmed',
    'Thought: go on',
    `Action: ${action}`,
    `Action Input: ${input}`,
  ].join('\n');
}

const readFile = write({ action: 'Read File', args: { file_name: 'train.py' } });
const finalAnswer = write({ action: 'Final Answer', args: { final_answer: 'done' } });
const broken = write({ action: 'Read File', args: '{"file_na' });

/** Runs the agent on these replies. The fast model answers with the request and the number of the call. */
async function run(
  replies: readonly string[],
  options: AgentOptions = {},
  settings: Partial<FakeEnvironmentSettings> = {},
) {
  const left = [...replies];
  const environment = new FakeEnvironment({
    files: { 'train.py': 'print(1)', 'submission.csv': 'id,y' },
    execute: () => ({ output: '', exitCode: 0, seconds: 1 }),
    actions: allActions,
    answer: ({ role, purpose }, count) =>
      role === 'agent' ? (left.shift() ?? finalAnswer) : `[Reasoning]: ${purpose} (call ${count})`,
    logActions: true,
    ...settings,
  });
  await research.run({ environment, seed: 0, options, reference: null });
  return environment;
}

const namesOf = ({ taken }: FakeEnvironment) => taken.map(({ name }) => name);
const purposesOf = ({ asked }: FakeEnvironment) => asked.map(({ purpose }) => purpose);
const tailsOf = ({ asked }: FakeEnvironment) => asked.filter(({ role }) => role === 'agent').map(tailOf);
const tailOf = ({ messages }: ModelRequest) => messages.at(-1)?.text ?? '';
const headOf = ({ asked }: FakeEnvironment) => asked[0]?.messages[0]?.text ?? '';

const append = 'Append Summary to Research Log';
const retrieve = 'Retrieval from Research Log';
const paper = { profile: 'paper' };

describe('research, as in the paper', () => {
  it('appends a summary of each step to the log, and from the fourth step on consults the log before it acts', async () => {
    const environment = await run(Array(5).fill(readFile), paper);
    const step = ['Read File', append];
    expect(namesOf(environment)).toEqual([
      ...[...step, ...step, ...step, ...step],
      ...[retrieve, ...step, retrieve, 'Final Answer'],
    ]);
    expect(environment.taken[1]?.args).toEqual({
      content: '\n\nStep 0:\n[Reasoning]: summarise a step (call 2)\n',
    });
    expect(environment.taken[8]?.args).toEqual({ current_plan: '' });
    const tails = tailsOf(environment);
    expect(tails[3]).not.toContain('from your research log');
    expect(tails[4]).toMatch(/^What is relevant[^\n]*to your research log:\n```\nwhat the log says\n```/);
  });

  it('lists only the actions of the paper, and shows neither budget nor submission', async () => {
    const environment = await run([finalAnswer], paper);
    const listed = [...headOf(environment).matchAll(/^- ([^:]+): What/gm)].map(([, name]) => name);
    expect(listed).toEqual([
      ...['List Files', 'Copy File', 'Undo Edit Script', 'Execute Script', 'Final Answer', 'Understand File'],
      ...['Inspect Script Lines', 'Edit Script (AI)', 'Reflection'],
    ]);
    expect(tailsOf(environment)[0]).not.toMatch(/What is left|Submission/);
    expect(headOf(environment).match(/^[A-Z][A-Za-z ]+(?=: <)/gm)).toEqual([
      ...['Reflection', 'Research Plan and Status', 'Fact Check', 'Thought', 'Action', 'Action Input'],
    ]);
  });

  it('removes the markers from the plan before it is shown again', async () => {
    const marked = write({ action: 'List Files', args: { dir_path: '.' }, plan: '1. **look** 2. try' });
    const tail = tailsOf(await run([marked], paper))[1];
    expect(tail).toContain('Research Plan and Status: 1. look 2. try');
  });

  it('asks again, at no cost, for a reply that lacks an entry or names no action, and says what is expected', async () => {
    const lacking = 'Thought: x\nAction: Read File\nAction Input: {"file_name": "a"}';
    const unknown = write({ action: 'Open File', args: { file_name: 'a' } });
    const environment = await run(['hello', lacking, unknown, readFile], { ...paper, retrieval: false });
    expect(namesOf(environment)).toEqual(['Read File', 'Final Answer']);
    const tails = tailsOf(environment);
    expect(tails[2]).toContain('It lacks "Reflection:", "Research Plan and Status:", "Fact Check:".');
    for (const tail of tails.slice(1, 4)) {
      expect(tail).toContain(
        'all of these entries: Reflection, Research Plan and Status, Fact Check, Thought, Action, Action Input.',
      );
    }
  });

  it('gives up after five unusable replies', async () => {
    const environment = await run(Array(9).fill('hello'), paper);
    expect(environment.asked).toHaveLength(5);
    expect(environment.givenUp?.reason).toBe('reply_format');
    expect(environment.taken).toEqual([]);
  });

  it('takes no step for unreadable arguments, and forgets them after a later reply', async () => {
    const environment = await run([readFile, broken, readFile, readFile], paper);
    expect(namesOf(environment)).toEqual([
      ...['Read File', append],
      ...[append],
      ...['Read File', append, 'Read File', append, 'Final Answer'],
    ]);
    const contents = environment.taken.filter(({ name }) => name === append).map(({ args }) => args.content);
    expect(contents.map((content) => /Step \d+/.exec(String(content))?.[0])).toEqual([
      'Step 0',
      'Step 1',
      'Step 2',
      'Step 2',
    ]);
    const tails = tailsOf(environment);
    expect(tails[2]).toContain('could not be read');
    expect(tails[3]).not.toContain('could not be read');
  });

  it('keeps a summary from its first marker on, and requests one up to five times', async () => {
    const summaries = ['no marks', 'Sure! [Reasoning]: because', ...Array(9).fill('never')];
    const replies = [readFile, readFile];
    const answer: FakeEnvironmentSettings['answer'] = ({ role }) =>
      role === 'agent' ? (replies.shift() ?? finalAnswer) : summaries.shift();
    const environment = await run([], paper, { answer });
    expect(environment.taken.filter(({ name }) => name === append).map(({ args }) => args.content)).toEqual([
      '\n\nStep 0:\n[Reasoning]: because\n',
      '\n\nStep 1:\n[Action]: Read File\n[Observation]: print(1)\n',
    ]);
    expect(environment.asked).toHaveLength(3 + 2 + 5);
  });

  it('has every long observation summarised, also that of a file', async () => {
    const files = { 'train.py': 'x'.repeat(5001) };
    const environment = await run([readFile], { ...paper, retrieval: false }, { files });
    expect(purposesOf(environment)).toEqual(['act', 'summarise an observation', 'act']);
    expect(tailsOf(environment)[1]).not.toContain('xxx');
  });

  it('stops after fifty steps of its own', async () => {
    const environment = await run(Array(60).fill(readFile), { ...paper, retrieval: false }, { steps: 100 });
    expect(environment.taken).toHaveLength(50);
    expect(environment.finalAnswer).toBe(null);
  });

  it('ends if the conversation is too long, without shortening it', async () => {
    const answer: FakeEnvironmentSettings['answer'] = () => ({ kind: 'context_too_long', message: 'long' });
    const environment = await run([], paper, { answer });
    expect(environment.asked).toHaveLength(1);
    expect(environment.givenUp?.reason).toBe('context_limit');
  });

  it('gives options precedence over the profile', async () => {
    const options = { ...paper, turns: 2, actions: 'Read File', retrieval_after: 1, entries: 'Thought' };
    const environment = await run(Array(9).fill(readFile), options);
    expect(namesOf(environment)).toEqual(['Read File', append, retrieve, 'Read File', append]);
    expect(headOf(environment)).toContain('- Read File:');
    expect(headOf(environment)).not.toMatch(/Reflection:|- List Files:/);
  });
});

describe('research, as it is by default', () => {
  it('keeps its log itself, so that only actions of the model are steps', async () => {
    const environment = await run(Array(6).fill(readFile));
    expect(namesOf(environment)).toEqual([...Array(6).fill('Read File'), 'Final Answer']);
    expect(purposesOf(environment)).toEqual([
      ...Array(4).fill(['act', 'summarise a step']).flat(),
      ...Array(2).fill(['recall from the log', 'act', 'summarise a step']).flat(),
      ...['recall from the log', 'act'],
    ]);
    expect(environment.asked.map(({ role }) => role)).toEqual(
      purposesOf(environment).map((purpose) => (purpose === 'act' ? 'agent' : 'fast')),
    );
    expect(tailsOf(environment)[4]).toContain('recall from the log (call 9)');
  });

  it('passes its plan and the result of each step to the log', async () => {
    const environment = await run([
      ...Array(3).fill(readFile),
      write({ action: 'Read File', args: { file_name: 'x' }, plan: 'the **newest** plan' }),
    ]);
    const recall = environment.asked.find(({ purpose }) => purpose === 'recall from the log');
    const text = recall === undefined ? '' : tailOf(recall);
    expect(text).toContain('the newest plan');
    expect(text).toContain(
      'Step 0:\n[Reasoning]: summarise a step (call 2)\n\n\nStep 1:\n[Reasoning]: summarise a step (call 4)',
    );
  });

  it('lists every action', async () => {
    const listed = [...headOf(await run([])).matchAll(/^- ([^:]+): What/gm)].map(([, name]) => name);
    expect(listed).toEqual(allActions.map(({ name }) => name));
    expect(listed.length).toBeGreaterThan(paperActions.length);
  });

  it('counts a reply that cannot be used as a step, and logs nothing of it', async () => {
    const environment = await run([broken, 'hello', readFile]);
    expect(namesOf(environment)).toEqual(['Read File', '(none)', 'Read File', 'Final Answer']);
    expect(purposesOf(environment)).toEqual(['act', 'act', 'act', 'summarise a step', 'act']);
  });

  it('accepts a reply without all entries, and keeps the plan', async () => {
    const short = 'Action: Read File\nAction Input: {"file_name": "train.py"}';
    const environment = await run([readFile, short, short]);
    expect(namesOf(environment)).toEqual([...Array(3).fill('Read File'), 'Final Answer']);
    expect(tailsOf(environment)[3]).toContain(
      'Your Research Plan and Status so far:\n```\nlook, then try\n```',
    );
    expect(tailsOf(environment)[1]).not.toContain('so far');
  });

  it('continues with the end of its log if the fast model does not answer', async () => {
    const replies = Array(5).fill(readFile);
    const environment = await run(
      [],
      {},
      {
        answer: ({ role }) =>
          role === 'agent' ? (replies.shift() ?? finalAnswer) : { kind: 'context_too_long', message: 'long' },
      },
    );
    expect(namesOf(environment)).toEqual([...Array(5).fill('Read File'), 'Final Answer']);
    expect(tailsOf(environment)[4]).toContain('Step 3:\n[Action]: Read File\n[Observation]: print(1)');
  });

  it('has no long-term memory if it is turned off', async () => {
    const environment = await run(Array(6).fill(readFile), { retrieval: false });
    expect(new Set(purposesOf(environment))).toEqual(new Set(['act']));
  });
});

it('an invalid option is refused with the choices', async () => {
  for (const options of [
    { profile: 'papper' },
    { entries: 'Thought, Feeling' },
    { attempts: 0 },
  ] as AgentOptions[]) {
    const error = await run([], options).catch((thrown: unknown) => thrown);
    expect(UserError.isInstance(error)).toBe(true);
  }
});
