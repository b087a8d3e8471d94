import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  actionsOf,
  answered,
  anyReply,
  inTurn,
  runInMemory,
  transcriptOf,
} from '../../../test/fixtures/model-agents.ts';
import type { ModelReply } from '../../environment/index.ts';
import type { ModelRequest } from '../../schema/index.ts';
import { autogpt } from './autogpt.ts';

function reply(name: string, args: Record<string, unknown> = {}, text = 'so'): string {
  return JSON.stringify({ thoughts: { text, plan: '- go on' }, command: { name, args } });
}

const look = reply('List Files', { dir_path: '.' });
const finish = reply('Final Answer', { final_answer: 'done' });

/** The fast model answers with its own summary; the other replies are the agent's. */
function withSummaries(...replies: (string | ModelReply)[]) {
  let asked = 0;
  let summaries = 0;
  return ({ role }: ModelRequest) => {
    if (role === 'fast') {
      summaries += 1;
      return `summary ${summaries}`;
    }
    asked += 1;
    return replies[Math.min(asked, replies.length) - 1];
  };
}

const textOf = ({ messages }: ModelRequest) => messages.map(({ text }) => text).join('\n');

describe('the autogpt agent', () => {
  it('executes one command per turn and records its thoughts', async () => {
    const environment = await runInMemory(
      autogpt,
      inTurn(
        look,
        reply('Write File', { file_name: 'train.py', content: 'lr = 1' }),
        reply('Execute Script', { script_name: 'train.py' }),
        finish,
      ),
    );
    expect(actionsOf(environment)).toEqual([
      ['List Files', '.'],
      ['Write File', 'train.py', 'lr = 1'],
      ['Execute Script', 'train.py'],
      ['Final Answer', 'done'],
    ]);
    expect(environment.notes[0]).toEqual({ Thought: 'so', Plan: '- go on' });
    const last = environment.asked[3]?.messages ?? [];
    expect(last.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'user',
    ]);
    expect(last[7]?.text).toBe('The command "Execute Script" ended as "ok":\nMAE: 3.5\n[exit code 0, 2.0 s]');
    expect(last[8]?.text).toMatch(/^Remaining budget: 47 steps, 59 min\.\nSubmission: written in step 3/);
    expect(last.slice(0, 2)).toEqual(environment.asked[0]?.messages.slice(0, 2));
    expect(environment.givenUp).toBeNull();
  });

  it('lists every command with its arguments, and the task', async () => {
    const { asked } = await runInMemory(autogpt, inTurn(finish));
    expect(asked[0]?.messages[0]?.text).toMatch(
      /"Write File": .*args: \{"file_name":"<.*","content":"<.*"\}/,
    );
    expect(asked[0]?.messages[1]?.text).toContain('Make it better.');
    expect(asked[0]?.messages[2]?.text).toContain('50 steps');
  });

  it('lets the fast model summarise steps that are too old to be shown in full', async () => {
    const environment = await runInMemory(autogpt, withSummaries(look, look, look, look, finish), {
      options: { steps_in_context: 2, summary_words: 42 },
    });
    const summaries = environment.asked.filter(({ role }) => role === 'fast');
    expect(summaries).toHaveLength(2);
    expect(textOf(summaries[0] as ModelRequest)).toMatch(
      /\(nothing yet\)[\s\S]*List Files[\s\S]*train\.py[\s\S]*42 words/,
    );
    expect(textOf(summaries[1] as ModelRequest)).toContain('summary 1');
    const last = environment.asked.at(-1) as ModelRequest;
    expect(last.messages[2]?.text).toMatch(/Your memory[\s\S]*summary 2/);
    expect(last.messages.filter(({ role }) => role === 'assistant')).toHaveLength(2);
  });

  it('keeps a plain line if the fast model gives no summary', async () => {
    const environment = await runInMemory(
      autogpt,
      ({ role }, count) => (role === 'fast' ? { kind: 'refused', message: 'no' } : count < 4 ? look : finish),
      { options: { steps_in_context: 1 } },
    );
    expect(environment.finalAnswer).toBe('done');
    expect(textOf(environment.asked.at(-1) as ModelRequest)).toContain('- List Files ended as ok.');
  });

  it('says what is wrong with a reply, and forgets the invalid one after a valid one', async () => {
    const environment = await runInMemory(autogpt, inTurn('Let me see.', look, finish));
    expect(environment.asked[1]?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', text: 'Let me see.' },
      { role: 'user', text: expect.stringMatching(/^No command was executed\. .*no JSON object/) },
    ]);
    expect(textOf(environment.asked[2] as ModelRequest)).not.toContain('Let me see.');
    expect(environment.taken).toHaveLength(2);
  });

  it('gives up after the allowed number of consecutive unreadable replies', async () => {
    const environment = await runInMemory(autogpt, inTurn(look, 'no'), { options: { invalid_replies: 3 } });
    expect(environment.asked).toHaveLength(4);
    expect(environment.givenUp).toEqual({
      reason: 'reply_format',
      message: 'No command could be read from 3 replies in a row.',
    });
    expect(environment.late).toBe(0);
  });

  it('does not execute a command that was cut off, even if it seems complete', async () => {
    const cut = answered({
      text: reply('Write File', { file_name: 'train.py', content: 'l' }),
      finish: 'length',
    });
    const environment = await runInMemory(autogpt, inTurn(cut, finish));
    expect(actionsOf(environment)).toEqual([['Final Answer', 'done']]);
    expect(textOf(environment.asked[1] as ModelRequest)).toContain('cut off at its length limit');
  });

  it("sends less until the model can read it, otherwise the run ends as the agent's failure", async () => {
    const files = { 'train.py': 'x'.repeat(9000) };
    const read = reply('Read File', { file_name: 'train.py' });
    const agent = withSummaries(read, read, read, finish);
    const environment = await runInMemory(
      autogpt,
      (request) =>
        textOf(request).length > 12_000 ? { kind: 'context_too_long', message: 'too long' } : agent(request),
      { files },
    );
    expect(environment.finalAnswer).toBe('done');
    expect(environment.asked.length).toBeGreaterThan(4);
    const never = await runInMemory(autogpt, inTurn(look, { kind: 'context_too_long', message: 'too long' }));
    expect(never.givenUp).toEqual({ reason: 'context_limit', message: 'too long' });
    expect(never.asked.length).toBeLessThan(12);
  });

  it('ends after a refusal, after the end of the run, and at the last step', async () => {
    const refused = await runInMemory(autogpt, inTurn({ kind: 'refused', message: 'not this' }));
    expect(refused.givenUp).toEqual({ reason: 'refused', message: 'not this' });
    for (const role of ['agent', 'fast']) {
      const closed = await runInMemory(
        autogpt,
        (request, count) => (count > 1 && request.role === role ? { kind: 'closed', message: 'over' } : look),
        { options: { steps_in_context: 1 } },
      );
      expect(closed.givenUp).toBeNull();
      expect(closed.taken.length).toBeLessThan(3);
    }
    const used = await runInMemory(autogpt, inTurn(look), { steps: 3 });
    expect([used.taken.length, used.late]).toEqual([3, 0]);
  });

  it('makes exactly the same requests when it is run again with the same replies', async () => {
    const replies = [look, 'what?', look, look, 'a summary', look].map((text) => answered({ text }));
    const first = await transcriptOf(autogpt, replies);
    expect(first.length).toBeGreaterThan(12);
    expect(await transcriptOf(autogpt, replies)).toEqual(first);
  });

  it('ends within its limits and never throws, whatever the models say', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyReply, { minLength: 1, maxLength: 12 }), async (replies) => {
        const environment = await runInMemory(autogpt, (_, count) => replies[(count - 1) % replies.length], {
          steps: 8,
          options: { steps_in_context: 2 },
        });
        expect(environment.late).toBe(0);
        expect(environment.asked.length).toBeLessThan(200);
      }),
      { numRuns: 200 },
    );
  });
});
