import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelMessage, ModelRequest } from '../schema/index.ts';
import { NormalRequests } from './normal-requests.ts';
import { normalRequest } from './request-hash.ts';

const text = fc.constantFrom('', 'a', 'b');
const input = fc.constantFrom({ x: 1, y: 2 }, { y: 2, x: 1 }, { x: [1, null] }, 'no JSON');
const calls = fc.array(fc.record({ id: text, name: text, input }), { maxLength: 2 });
const message = fc.oneof(
  fc.record(
    { role: fc.constantFrom('user', 'system'), text, stable: fc.boolean() },
    { requiredKeys: ['role', 'text'] },
  ),
  fc.record(
    { text, tool_calls: calls, role: fc.constant('assistant'), provider: input, unknown: text },
    { requiredKeys: ['role', 'text'] },
  ),
  fc.record({ role: fc.constant('tool'), call_id: text, name: text, text, stable: fc.constant(true) }),
) as fc.Arbitrary<ModelMessage>;
const tool = fc.record({
  name: fc.constantFrom('Read', 'Write'),
  description: text,
  input_schema: fc.constantFrom({ type: 'object', properties: {} }, { properties: {}, type: 'object' }),
});

test('requests are the same as if each was parsed alone, including the order of keys', () => {
  const step = fc.record({
    kept: fc.nat(4),
    more: fc.array(message, { minLength: 1, maxLength: 3 }),
    tools: fc.option(fc.array(tool, { maxLength: 2 }), { nil: undefined }),
    purpose: fc.constantFrom('act', 'summarise'),
    // The agent changes a message that it sent before.
    changed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const requests = new NormalRequests();
      let messages: ModelMessage[] = [];
      for (const { kept, more, tools, purpose, changed } of steps) {
        messages = [...messages.slice(0, kept), ...structuredClone(more)];
        if (changed && messages[0] !== undefined) messages[0].text += '!';
        const request: ModelRequest = {
          role: 'agent',
          purpose,
          messages,
          ...(tools === undefined ? {} : { tools }),
        };
        expect(JSON.stringify(requests.of(request))).toBe(JSON.stringify(normalRequest(request)));
      }
    }),
    { numRuns: 300 },
  );
});

test('what an agent changes afterwards is noticed', () => {
  const requests = new NormalRequests();
  const input = { files: ['a'] };
  const messages: ModelMessage[] = [
    { role: 'assistant', text: '', tool_calls: [{ id: '1', name: 'Read', input }] },
  ];
  const ask = () => JSON.stringify(requests.of({ role: 'agent', purpose: 'act', messages }).messages);
  for (const file of ['b', 'c', 'd']) {
    input.files.push(file);
    expect(ask()).toBe(JSON.stringify(messages));
  }
});

test('earlier messages of a conversation are the same objects in its next request', () => {
  const requests = new NormalRequests();
  const messages: ModelMessage[] = [
    { role: 'user', text: 'Do it.' },
    { role: 'assistant', text: '', tool_calls: [{ id: '1', name: 'Read', input: { file: 'a' } }] },
  ];
  const tools = [{ name: 'Read', description: 'reads', input_schema: { type: 'object' } }];
  const first = requests.of({ role: 'agent', purpose: 'act', messages, tools });
  const next = requests.of({
    ...{ role: 'agent', purpose: 'act', tools: structuredClone(tools) },
    messages: [...structuredClone(messages), { role: 'tool', call_id: '1', name: 'Read', text: 'b' }],
  });
  expect(next.messages.slice(0, 2).every((message, index) => message === first.messages[index])).toBe(true);
  expect(next.tools).toBe(first.tools);
  for (const wrong of [
    { role: 'agent', purpose: 'act', messages: [] },
    { purpose: 'act', messages: [{ role: 'user' }] },
  ])
    expect(() => requests.of(wrong as unknown as ModelRequest)).toThrow();
});

test('a request that is none is named with what is wrong in it', () => {
  const requests = new NormalRequests();
  const asked = { role: 'agent', purpose: 'act', messages: [{ role: 'user', content: 'hi' }] };
  const refused = () => requests.of(asked as unknown as ModelRequest);
  expect(refused).toThrow(TypeError);
  expect(refused).toThrow(
    'no request to a model: ✖ Invalid input: expected string, received undefined → at messages[0].text.',
  );
});

test('requests of different runs share one copy of equal tools, which no agent can change', () => {
  const tools = [{ name: 'Read', description: 'Reads.', input_schema: { type: 'object', properties: {} } }];
  const ask = (requests: NormalRequests) =>
    requests.of({ role: 'agent', purpose: 'act', messages: [{ role: 'user', text: 'Go on.' }], tools });
  const [one, other] = [new NormalRequests(), new NormalRequests()];
  const [first, second] = [ask(one), ask(other)];
  expect(second.tools).toBe(first.tools);
  for (const tool of tools) tool.description = 'Changed.';
  expect([first.tools?.[0]?.description, ask(one).tools?.[0]?.description]).toEqual(['Reads.', 'Changed.']);
});
