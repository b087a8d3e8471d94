import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageStream } from './message-stream.ts';
import { SessionUpdates } from './session-updates.ts';

/** What the protocol's library, the updates and the note of printed output get from an agent's output. */
async function read(output: string | Buffer, pieces = 1) {
  const printed: string[] = [];
  const updates = new SessionUpdates();
  const stream = new MessageStream({
    notified: (method, params) => method === 'session/update' && updates.add(params),
    printed: (text) => printed.push(text),
  });
  const bytes = Buffer.from(output);
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  for (let from = 0; from < bytes.length; from += size) stream.add(bytes.subarray(from, from + size));
  stream.end('The end.');
  const messages: unknown[] = [];
  let problem = '';
  try {
    for await (const message of stream.stream(
      { write: () => {}, unreadBytes: 0 },
      new AbortController().signal,
    ).readable)
      messages.push(message);
  } catch (error) {
    problem = error instanceof Error ? `${error.name}: ${error.message}` : 'no error';
  }
  await stream.close();
  return { messages, printed: printed.join(''), claims: updates.take(), cost: updates.cost, problem };
}

const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const update = (fields: object) =>
  line({ method: 'session/update', params: { sessionId: 's', update: fields } });
const says = (sessionUpdate: string, text: string) =>
  update({ sessionUpdate, content: { type: 'text', text } });

describe('messages of an agent', () => {
  test('are passed to the library as requests, to the notes as updates, and printed output between them is kept', async () => {
    const request = { id: 1, method: 'session/request_permission', params: {} };
    const output = [
      'Loading …\n',
      says('agent_thought_chunk', 'I '),
      says('agent_thought_chunk', 'think.'),
      line(request),
      update({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' } }),
      line({ id: 7, result: 'to nothing that was asked' }),
      update({
        sessionUpdate: 'tool_call',
        toolCallId: 'a',
        title: 'ls',
        kind: 'execute',
        rawInput: { b: 1 },
      }),
      update({ sessionUpdate: 'tool_call_update', toolCallId: 'a', status: 'completed' }),
    ].join('');
    for (const pieces of [1, 7, output.length]) {
      expect(await read(output, pieces)).toEqual({
        messages: [{ jsonrpc: '2.0', ...request }],
        printed: 'Loading …\n',
        claims: {
          'Claimed thought': 'I think.',
          'Claimed tool calls': 'ls (execute) {"b":1}\nls (completed)\n',
        },
        cost: 0.5,
        problem: 'AgentFailed: The end.',
      });
    }
  });

  test('end at one that contains more values than any message needs', async () => {
    const many = `{"jsonrpc":"2.0","id":1,"method":"x","params":[${'1,'.repeat(2 ** 20)}1]}\n`;
    expect((await read(many)).problem).toContain('it holds more than 1048576 values');
  });

  test('contribute a bounded part of what the agent says about itself', async () => {
    const { claims } = await read(says('agent_message_chunk', 'x'.repeat(30_000)).repeat(3));
    expect(claims?.['Claimed words']).toHaveLength(32_000);
  });

  test('end the conversation if there are too many without an answer of its model, however short they are', async () => {
    const { problem } = await read(line({ method: 'x' }).repeat(10_001));
    expect(problem).toBe('AgentFailed: It wrote 10000 lines without waiting for an answer.');
  });

  test('cannot fill the harness with answers that the agent does not read', async () => {
    const stream = new MessageStream({ notified: () => {}, printed: () => {} });
    let unreadBytes = 0;
    const write = (text: string | Uint8Array) => {
      unreadBytes += text.length;
    };
    const process = {
      write,
      get unreadBytes() {
        return unreadBytes;
      },
    };
    const { readable, writable } = stream.stream(process, new AbortController().signal);
    const writer = writable.getWriter();
    const result = 'x'.repeat(2 ** 20);
    for (let id = 0; id < 100; id += 1) await writer.write({ jsonrpc: '2.0', id, result });
    expect(unreadBytes).toBeLessThan(18 * 2 ** 20);
    await expect(readable.getReader().read()).rejects.toThrow('has not read 16 MiB');
  });

  test('may be anything: the only possible error is that the agent failed', async () => {
    const json = fc.json({ maxDepth: 4 });
    const known = fc.constantFrom('agent_message_chunk', 'tool_call', 'plan', 'usage_update', 'constructor');
    const hostile = fc.oneof(
      fc.string(),
      json,
      fc
        .tuple(known, fc.dictionary(fc.string(), fc.jsonValue()))
        .map(([sessionUpdate, rest]) => update({ ...rest, sessionUpdate })),
      fc.dictionary(fc.constantFrom('id', 'method', 'result', 'error', 'params'), fc.jsonValue()).map(line),
    );
    const run = async (lines: string[]) => {
      const { problem } = await read(lines.join('\n'));
      expect(problem).toMatch(/^AgentFailed: /);
    };
    await fc.assert(fc.asyncProperty(fc.array(hostile, { maxLength: 20 }), run), { numRuns: 100 });
  });
});
