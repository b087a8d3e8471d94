import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describedActions } from '../../../test/fixtures/described-actions.ts';
import {
  type Answered,
  actionsOf,
  answered,
  anyReply,
  inTurn,
  runInMemory,
  transcriptOf,
} from '../../../test/fixtures/model-agents.ts';
import { type ModelMessage, ModelTool } from '../../schema/index.ts';
import { Toolbox } from '../common/toolbox.ts';
import { tools } from './tools.ts';

function call(id: string, name: string, input: Answered['tool_calls'][number]['input'] = {}) {
  return { id, name, input };
}

function calling(...calls: Answered['tool_calls']): Answered {
  return answered({ tool_calls: calls, finish: 'tool_calls' });
}

const look = calling(call('l', 'List_Files', { dir_path: '.' }));
const finish = calling(call('z', 'Final_Answer', { final_answer: 'done' }));

function toolTexts(messages: readonly ModelMessage[]): string[] {
  return messages.filter(({ role }) => role === 'tool').map(({ text }) => text);
}

describe('the tools agent', () => {
  it('executes every call of a reply in order and answers each by its id', async () => {
    const environment = await runInMemory(
      tools,
      inTurn(
        {
          ...calling(
            call('a', 'List_Files', { dir_path: '.' }),
            call('b', 'Read_File', { file_name: 'train.py' }),
          ),
          text: 'I look.',
        },
        calling(call('c', 'Write_File', { file_name: 'train.py', content: 'lr = 1' })),
        calling(call('d', 'Execute_Script', { script_name: 'train.py' })),
        finish,
      ),
    );
    expect(actionsOf(environment)).toEqual([
      ['List Files', '.'],
      ['Read File', 'train.py'],
      ['Write File', 'train.py', 'lr = 1'],
      ['Execute Script', 'train.py'],
      ['Final Answer', 'done'],
    ]);
    expect(environment.executed).toEqual(['lr = 1']);
    expect(environment.notes).toEqual([{ Thought: 'I look.' }]);
    expect(environment.asked[1]?.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        text: 'I look.',
        tool_calls: [
          { id: 'a', name: 'List_Files', input: { dir_path: '.' } },
          { id: 'b', name: 'Read_File', input: { file_name: 'train.py' } },
        ],
      },
      { role: 'tool', call_id: 'a', name: 'List_Files', text: 'submission.csv\ntrain.py' },
      {
        role: 'tool',
        call_id: 'b',
        name: 'Read_File',
        text: 'lr = 0.1\n\n\n[Remaining budget: 48 steps, 60 min.\nSubmission: present from the start; not checked yet.]',
        stable: true,
      },
    ]);
    expect(environment.givenUp).toBeNull();
    expect(environment.late).toBe(0);
  });

  it('describes the task and the budget, and begins every request with the same text', async () => {
    const { asked } = await runInMemory(tools, inTurn(calling(call('a', 'Check_Budget')), finish));
    expect(asked[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(asked[0]?.messages[1]?.text).toMatch(
      /Make it better\.[\s\S]*MAE[\s\S]*submission\.csv[\s\S]*50 steps, 60 min/,
    );
    expect(asked[1]?.messages.slice(0, 2)).toEqual(asked[0]?.messages);
    expect(asked[1]?.tools).toEqual(asked[0]?.tools);
  });

  it("sends a reply back in the provider's format", async () => {
    const provider = { kind: 'x', content: [{ signature: 'sealed' }] };
    const { asked } = await runInMemory(
      tools,
      inTurn({ ...calling(call('a', 'Check_Budget')), provider }, finish),
    );
    expect(asked[1]?.messages[2]).toMatchObject({ role: 'assistant', provider });
  });

  it('lets the environment refuse unknown tools and input that is not an object', async () => {
    const environment = await runInMemory(
      tools,
      inTurn(
        calling(call('a', 'Fly'), call('b', 'List_Files', '{"dir_path": '), call('c', 'List_Files', [])),
        finish,
      ),
    );
    expect(environment.results.map(({ status }) => status)).toEqual(['invalid', 'invalid', 'invalid', 'ok']);
    expect(toolTexts(environment.asked[1]?.messages ?? [])[0]).toMatch(
      /^There is no action "Fly"\. The actions are: List Files, .*\n\[invalid\]$/,
    );
  });

  it('holds back a final answer without a fresh submission, once', async () => {
    const environment = await runInMemory(tools, inTurn(look, finish), { files: { 'train.py': '' } });
    expect(environment.asked).toHaveLength(3);
    expect(toolTexts(environment.asked[2]?.messages ?? [])[1]).toMatch(
      /^The run has not ended yet, because there is no submission[\s\S]*\[held back\]/,
    );
    expect(actionsOf(environment).map(([name]) => name)).toEqual(['List Files', 'Final Answer']);
  });

  it('stops in the middle of a reply when the run is over', async () => {
    const environment = await runInMemory(
      tools,
      inTurn(calling(call('a', 'Check_Budget'), call('b', 'Check_Budget'), call('c', 'Check_Budget'))),
      { steps: 2 },
    );
    expect(environment.taken).toHaveLength(2);
    expect(environment.late).toBe(0);
    expect(environment.asked).toHaveLength(1);
  });

  it('reminds a model that calls no tool, and gives up if that does not help', async () => {
    const environment = await runInMemory(tools, inTurn('I think.', look, finish));
    expect(environment.asked[1]?.messages.at(-1)).toMatchObject({
      role: 'user',
      text: expect.stringMatching(/called no tool.*Final_Answer/),
    });
    expect(environment.finalAnswer).toBe('done');
    const stuck = await runInMemory(tools, inTurn('I think.'));
    expect(stuck.asked).toHaveLength(3);
    expect(stuck.givenUp).toEqual({
      reason: 'reply_format',
      message: '3 replies in a row held no tool call that could be carried out.',
    });
  });

  it('does not execute the last call of a reply that was cut off', async () => {
    const cut = {
      ...calling(call('a', 'Check_Budget'), call('b', 'Write_File', { file_name: 'train.py' })),
      finish: 'length' as const,
    };
    const environment = await runInMemory(tools, inTurn(cut, finish));
    expect(actionsOf(environment).map(([name]) => name)).toEqual(['Check Budget', 'Final Answer']);
    expect(toolTexts(environment.asked[1]?.messages ?? [])[1]).toMatch(/not executed.*length limit/);
    const stuck = await runInMemory(
      tools,
      inTurn({ ...calling(call('a', 'Check_Budget')), finish: 'length' }),
    );
    expect(stuck.givenUp?.reason).toBe('reply_format');
    expect(stuck.taken).toHaveLength(0);
  });

  it('ends after a refusal, and after the end of the run', async () => {
    const refused = await runInMemory(tools, inTurn({ kind: 'refused', message: 'not this' }));
    expect(refused.givenUp).toEqual({ reason: 'refused', message: 'not this' });
    const closed = await runInMemory(
      tools,
      inTurn(calling(call('a', 'Check_Budget')), { kind: 'closed', message: 'over' }),
    );
    expect(closed.givenUp).toBeNull();
    expect(closed.taken).toHaveLength(1);
  });

  it('makes exactly the same requests when it is run again with the same replies', async () => {
    const replies = [
      calling(call('a', 'List_Files', { dir_path: '.' })),
      answered({ text: 'hm' }),
      calling(call('b', 'Fly')),
      finish,
    ];
    const first = await transcriptOf(tools, replies);
    expect(first).toHaveLength(4);
    expect(await transcriptOf(tools, replies)).toEqual(first);
  });

  it('ends within its limits and never throws, whatever the model says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyReply, { minLength: 1, maxLength: 12 }), async (replies) => {
        const environment = await runInMemory(tools, (_, count) => replies[(count - 1) % replies.length], {
          steps: 8,
        });
        expect(environment.late).toBe(0);
        expect(environment.taken.length).toBeLessThanOrEqual(8);
        expect(environment.asked.length).toBeLessThan(200);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a conversation that grows too long', () => {
  const long = 'x'.repeat(5000);
  const files = { 'train.py': '', 'long.txt': `${long} the end` };
  const reads = inTurn(
    ...Array.from({ length: 12 }, (_, turn) =>
      calling(call(`r${turn}`, 'Read_File', { file_name: 'long.txt' })),
    ),
    finish,
  );

  it('drops its oldest results first, and says what they were', async () => {
    const { asked } = await runInMemory(tools, reads, { files, options: { context_tokens: 12_000 } });
    const shortened = asked.findIndex(({ messages }) =>
      toolTexts(messages).some((text) => text.startsWith('[Removed')),
    );
    const texts = toolTexts(asked[shortened]?.messages ?? []);
    expect(texts[0]).toMatch(
      /^\[Removed to save space: the result of \d+ characters of "Read File", which ended as "ok"/,
    );
    expect(texts[0]).toMatch(/x the end$/);
    expect(texts.slice(-2).every((text) => text.startsWith(long))).toBe(true);
    const { messages } = asked[shortened] ?? { messages: [] };
    expect(messages.slice(0, 2)).toEqual(asked[0]?.messages);
    // It is unchanged several turns later, so a cache can hold it.
    expect(asked[shortened + 1]?.messages.slice(0, messages.length)).toEqual(messages);
    for (const request of asked) {
      expect(Buffer.byteLength(JSON.stringify([request.messages, request.tools])) / 3).toBeLessThan(12_500);
    }
  });

  it('drops whole turns if the text of the model itself is too long', async () => {
    const writes = inTurn(
      ...Array.from({ length: 12 }, (_, turn) =>
        calling(call(`w${turn}`, 'Write_File', { file_name: 'a', content: long })),
      ),
      finish,
    );
    const { asked, finalAnswer } = await runInMemory(tools, writes, { options: { context_tokens: 10_000 } });
    expect(finalAnswer).toBe('done');
    expect(asked.at(-1)?.messages[2]?.text).toMatch(/^\[The first \d+ turns .*Write File \(ok\)/);
    expect(asked.at(-1)?.messages[3]?.role).toBe('assistant');
    expect(JSON.stringify(asked.at(-1)).length / 3).toBeLessThan(10_500);
  });

  it('is shortened until the model can read it', async () => {
    const environment = await runInMemory(
      tools,
      (request, count) =>
        JSON.stringify(request.messages).length > 12_000
          ? { kind: 'context_too_long', message: 'too many tokens' }
          : reads(request, count),
      { files, steps: 40 },
    );
    expect(environment.givenUp).toBeNull();
    expect(environment.finalAnswer).toBe('done');
  });

  it("ends as the agent's own failure if nothing can be left out", async () => {
    const environment = await runInMemory(
      tools,
      inTurn({ kind: 'context_too_long', message: 'too many tokens' }),
    );
    expect(environment.givenUp).toEqual({ reason: 'context_limit', message: 'too many tokens' });
    expect(environment.asked).toHaveLength(1);
  });
});

describe('the tools', () => {
  it('have names that every provider accepts, and map back to their actions', () => {
    const toolbox = new Toolbox(describedActions);
    for (const tool of toolbox.tools) ModelTool.parse(tool);
    const back = toolbox.tools.map(({ name }) => toolbox.actionOf({ id: '', name, input: {} }).name);
    expect(back).toEqual(describedActions.map(({ name }) => name));
    expect(toolbox.toolFor('Read File')).toBe('Read_File');
  });

  it('are distinct however similar the names of their actions are', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.oneof(fc.string(), fc.constantFrom('Edit (AI)', 'Edit AI', 'x'.repeat(70), 'x'.repeat(71))),
        ),
        (names) => {
          const described = names.map((name) => ({ name, description: '', arguments: [], input_schema: {} }));
          const toolbox = new Toolbox(described);
          for (const tool of toolbox.tools) ModelTool.parse(tool);
          const back = toolbox.tools.map(({ name }) => toolbox.actionOf({ id: '', name, input: {} }).name);
          expect(back).toEqual(names);
        },
      ),
    );
  });
});
