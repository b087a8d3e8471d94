import { describe, expect, test } from 'vitest';
import type { ModelAnswer, ModelMessage, ModelRequest, ToolCall } from '../../schema/index.ts';
import { Turns } from './turns.ts';

const call = (id: string, name = 'bash', command = id): ToolCall => ({ id, name, input: { command } });
const answer = (tool_calls: ToolCall[], text = ''): ModelAnswer => ({
  ...{ kind: 'answered', text, tool_calls },
  finish: tool_calls.length === 0 ? 'stop' : 'tool_calls',
});
const request = (...results: [id: string, text: string][]): ModelRequest => ({
  ...{ role: 'agent', purpose: 'act' },
  messages: [
    { role: 'user', text: 'Go on.' },
    ...results.map(([call_id, text]): ModelMessage => ({ role: 'tool', call_id, name: 'bash', text })),
  ],
});

describe('the turns of a program', () => {
  test('end with the request that contains the results of their calls', () => {
    const turns = new Turns();
    expect(turns.endedBy(request(), false)).toEqual([]);
    turns.answered(answer([call('one')], 'I look.'), 5);
    expect(turns.endedBy(request(['one', 'found']), false)).toEqual([
      {
        action: { name: 'bash', args: { command: 'one' } },
        ...{ observation: 'found', thought: 'I look.', began: 5 },
      },
    ]);
    expect(turns.rest()).toEqual([]);
  });

  test('contain all calls of one answer', () => {
    const turns = new Turns();
    turns.answered(answer([call('one'), call('two', 'edit'), call('three')]), 0);
    const [turn] = turns.endedBy(request(['one', 'a'], ['two', 'b']), false);
    expect(turn?.action.name).toBe('bash + edit');
    expect(turn?.action.args).toMatchObject({
      calls: [{ name: 'bash' }, { name: 'edit' }, { name: 'bash' }],
    });
    expect(turn?.observation).toBe(
      '[bash]\na\n\n[edit]\nb\n\n[bash]\n(No result of it was sent to the model.)',
    );
  });

  test('end with the results of the same calls, if these have other ids or none', () => {
    const turns = new Turns();
    turns.answered(answer([call('bash_0', 'bash', 'ls'), call('bash_1', 'bash', 'pwd')]), 0);
    const conversation = (own: ToolCall[], ...texts: string[]): ModelRequest => ({
      ...{ role: 'agent', purpose: 'act' },
      messages: [
        { role: 'user', text: 'Go on.' },
        { role: 'assistant', text: '', tool_calls: own },
        ...texts.map((text): ModelMessage => ({ role: 'tool', call_id: 'bash', name: 'bash', text })),
      ],
    });
    const own = [call('x-1', 'bash', 'ls'), call('x-2', 'bash', 'pwd')];
    expect(turns.endedBy(conversation([call('x-0', 'bash', 'ls')], 'a file'), false)).toEqual([]);
    expect(turns.endedBy(conversation(own), false)).toEqual([]);
    expect(turns.endedBy(conversation(own, 'a file', '/work'), false)).toMatchObject([
      { observation: '[bash]\na file\n\n[bash]\n/work' },
    ]);
    expect(turns.rest()).toEqual([]);
  });

  test('do not end with the result of the same call in another conversation', () => {
    const turns = new Turns();
    turns.answered(answer([call('one', 'bash', 'ls')]), 0);
    const other: ModelMessage[] = [
      { role: 'assistant', text: '', tool_calls: [call('two', 'bash', 'ls')] },
      { role: 'tool', call_id: 'two', name: 'bash', text: 'a file' },
    ];
    expect(turns.endedBy({ ...request(), messages: other }, false)).toEqual([]);
  });

  test('without calls end with the next turn, and not with a side call', () => {
    const turns = new Turns();
    turns.answered(answer([], 'All done.'), 0);
    expect(turns.endedBy(request(), true)).toEqual([]);
    expect(turns.endedBy(request(), false)).toMatchObject([
      { action: { name: 'Reply', args: { text: 'All done.' } } },
    ]);
  });

  test('whose call was asked for as the answer end with the next turn', () => {
    const turns = new Turns();
    turns.answered(answer([call('review')]), 0, true);
    expect(turns.endedBy(request(), true)).toEqual([]);
    expect(turns.endedBy(request(), false)).toMatchObject([{ action: { name: 'bash' } }]);
    expect(turns.rest()).toEqual([]);
  });

  test('all end with the request for a turn for which no step is left', () => {
    const turns = new Turns();
    for (const each of ['one', 'two', 'three']) turns.answered(answer([call(each)]), 0);
    expect(turns.endedBy(request(['two', 'done']), false, 3)).toHaveLength(3);
    for (const each of ['four', 'five']) turns.answered(answer([call(each)]), 0);
    expect(turns.endedBy(request(), false, 3)).toEqual([]);
    expect(turns.endedBy(request(), true, 2)).toEqual([]);
    expect(turns.endedBy(request(), false, 2)).toHaveLength(2);
  });

  test('of several concurrent conversations are distinguished by their calls', () => {
    const turns = new Turns();
    turns.answered(answer([call('mine')]), 0);
    turns.answered(answer([call('theirs')]), 0);
    expect(turns.endedBy(request(['theirs', 'x']), false)).toMatchObject([{ observation: 'x' }]);
    // A request for a summary also contains the result of a turn.
    expect(turns.endedBy(request(['mine', 'y']), true)).toMatchObject([{ observation: 'y' }]);
  });

  test('whose end is never reported are ended by later requests, the oldest first', () => {
    const turns = new Turns();
    const ended = Array.from({ length: 100 }, (_, index) => {
      turns.answered(answer([call(`call ${index}`)]), index);
      return turns.endedBy(request(), false);
    }).flat();
    expect(ended.map(({ began }) => began)).toEqual(Array.from({ length: 84 }, (_, index) => index));
  });

  test('that nothing has ended are returned when the program has ended', () => {
    const turns = new Turns();
    turns.answered(answer([call('last')]), 0);
    turns.answered({ kind: 'refused', message: 'no' }, 0);
    expect(turns.rest()).toMatchObject([{ observation: '(No result of it was sent to the model.)' }]);
    expect(turns.rest()).toEqual([]);
  });
});
