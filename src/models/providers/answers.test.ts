import { describe, expect, it } from 'vitest';
import {
  type FakeReply,
  fakeWires,
  startProviderServer,
  variablesFor,
} from '../../../test/fakes/providers/index.ts';
import type { WireRequest } from '../wire.ts';
import { createWireModel } from './index.ts';

const request: WireRequest = {
  messages: [
    { role: 'system', text: 'You are short.' },
    { role: 'user', text: 'Say hello.' },
  ],
  tools: [],
  stop: [],
  temperature: null,
  maxOutputTokens: 100,
};
const ways = fakeWires.flatMap((wire) => [
  { ...wire, stream: true, way: `${wire.format}, streaming` },
  { ...wire, stream: false, way: `${wire.format}, at once` },
]);
type Way = (typeof ways)[number];

async function ask({ model, stream }: Way, reply: FakeReply, changes: Partial<WireRequest> = {}) {
  await using server = await startProviderServer({ answer: () => reply });
  const wire = await createWireModel(model, { stream }, variablesFor(server));
  const came = await wire.call({ ...request, ...changes }, AbortSignal.timeout(10_000));
  return { ...came, requests: server.requests };
}

describe.each(ways)('an answer ($way)', (way) => {
  it('comes with its text, its counts and the name of the model that gave it', async () => {
    const usage = { input: 120, output: 30, cachedInput: 80, reasoning: 12 };
    const reply = { text: 'Hello, and a bit more than one piece.', usage, model: 'model-20250101' };
    const { answer, answeredBy, usage: counted, requests } = await ask(way, reply);
    expect(answer).toEqual({ kind: 'answered', text: reply.text, tool_calls: [], finish: 'stop' });
    expect(answeredBy).toBe('model-20250101');
    expect(counted).toEqual({
      input: 120,
      cached_input: 80,
      cache_write: 0,
      output: 30,
      reasoning: 12,
      source: 'provider',
    });
    expect(requests).toMatchObject([{ format: way.format, key: way.key, isStreaming: way.stream }]);
  });
});
