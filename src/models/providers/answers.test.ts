import { describe, expect, it } from 'vitest';
import {
  type FakeReply,
  type FakeUsage,
  fakeWires,
  startProviderServer,
  variablesFor,
} from '../../../test/fakes/providers/index.ts';
import type { ModelMessage } from '../../schema/index.ts';
import type { ProviderRequest } from '../provider-adapter.ts';
import { createProviderAdapter } from './index.ts';

const hello: ModelMessage[] = [
  { role: 'system', text: 'You are short.' },
  { role: 'user', text: 'Say hello.' },
];
const tools = ['read_file', 'list_files'].map((name) => ({
  name,
  description: 'Looks at files.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
}));
const ways = fakeWires.flatMap((wire) => [
  { ...wire, stream: true, way: `${wire.format}, streaming` },
  { ...wire, stream: false, way: `${wire.format}, at once` },
]);
type Way = (typeof ways)[number];

async function ask({ model, stream }: Way, reply: FakeReply, changes: Partial<ProviderRequest> = {}) {
  await using server = await startProviderServer({ answer: () => reply });
  const adapter = await createProviderAdapter(model, { stream }, variablesFor(server));
  const request: ProviderRequest = {
    messages: hello,
    tools: [],
    stop: [],
    temperature: null,
    maxOutputTokens: 100,
  };
  const came = await adapter.call({ ...request, ...changes }, AbortSignal.timeout(10_000));
  return { ...came, requests: server.requests };
}

describe.each(ways)('an answer ($way)', (way) => {
  it('has its text, its counts and the name of the model that gave it', async () => {
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

  it('keeps several tool calls separate, with text before them', async () => {
    const toolCalls = [
      { id: 'call_a', name: 'read_file', input: '{"path":"train.py"}' },
      { id: 'call_b', name: 'list_files', input: '{}' },
    ];
    const { answer } = await ask(way, { text: 'Let me look.', toolCalls }, { tools });
    expect(answer).toEqual({
      kind: 'answered',
      text: 'Let me look.',
      tool_calls: [
        { id: 'call_a', name: 'read_file', input: { path: 'train.py' } },
        { id: 'call_b', name: 'list_files', input: {} },
      ],
      finish: 'tool_calls',
    });
  });

  it('is marked if it was cut off at the limit', async () => {
    const { answer } = await ask(way, { text: 'Once upon', finish: 'length' });
    expect(answer).toMatchObject({ kind: 'answered', text: 'Once upon', finish: 'length' });
  });

  it('that contains only reasoning, up to the limit, is empty and not an error', async () => {
    const { answer } = await ask(way, { reasoning: 'Hm.', finish: 'length' });
    expect(answer).toMatchObject({ kind: 'answered', text: '', finish: 'length' });
  });

  it('without any content is the empty answer of a model, and charged', async () => {
    const { answer, usage } = await ask(way, { text: '' });
    expect(answer).toMatchObject({ kind: 'answered', text: '', tool_calls: [], finish: 'stop' });
    expect(usage).toMatchObject({ input: 100 });
  });

  it('that was refused for its content is a refusal', async () => {
    const { answer, usage } = await ask(way, { finish: 'refused' });
    expect(answer).toMatchObject({ kind: 'refused' });
    expect(usage).toMatchObject({ input: 100 });
  });

  it('that the model itself refuses is a refusal, with its text', async () => {
    const { answer } = await ask(way, { refusal: 'I cannot help with that.' });
    expect(answer).toEqual({ kind: 'refused', message: 'I cannot help with that.' });
  });

  it('ends before the first of the stop texts, even if the server continued', async () => {
    const text = 'Action: run\nObservation: it works\nAction: stop';
    const { answer } = await ask(way, { text, reasoning: 'Hm.' }, { stop: ['Observation:', 'it works'] });
    expect(answer).toEqual({ kind: 'answered', text: 'Action: run\n', tool_calls: [], finish: 'stop' });
  });

  it('never shows its reasoning as text', async () => {
    const { answer } = await ask(way, { reasoning: 'secret thought', text: 'Done.' });
    expect(answer).toMatchObject({ kind: 'answered', text: 'Done.' });
  });
});

describe.each(ways.filter(({ format }) => format !== 'google'))('a call of a tool ($way)', (way) => {
  it.each([
    ['that is not JSON stays a text', '{"path": "train.py', '{"path": "train.py'],
    ['without any is one with no arguments', '', {}],
  ])('%s', async (_, input, expected) => {
    const { answer } = await ask(way, { toolCalls: [{ name: 'read_file', input }] }, { tools });
    // Anthropic's format contains parsed arguments, so only its streams can contain these.
    const parsedByServer =
      way.format === 'anthropic' && !way.stream && input !== '' ? JSON.stringify(input) : null;
    const first = answer.kind === 'answered' ? answer.tool_calls[0]?.input : null;
    expect(first).toEqual(parsedByServer === null ? expected : input);
  });
});

describe.each(ways.filter(({ format }) => format !== 'anthropic'))(
  'an answer without counts ($way)',
  (way) => {
    it('has no usage', async () => {
      expect((await ask(way, { text: 'Hello.', usage: null })).usage).toBeNull();
    });
  },
);

describe.each(ways.filter(({ format }) => format === 'chat' || format === 'compatible'))(
  'counts that can not be all ($way)',
  (way) => {
    const counted = async (usage: FakeUsage) => (await ask(way, { text: 'Hello.', usage })).usage;

    it('are estimated where a server counts no prompt, or no reply though there is one', async () => {
      expect(await counted({ input: 0, output: 0 })).toBeNull();
      expect(await counted({ input: 100, output: 0 })).toBeNull();
    });

    it('include reasoning that is in the total alone', async () => {
      const usage = await counted({ input: 100, output: 10, reasoning: 50, total: 160 });
      expect(usage).toMatchObject({ input: 100, output: 60, reasoning: 50 });
    });
  },
);

describe('Anthropic', () => {
  it.each([true, false])(
    'distinguishes cache reads and writes, and counts both as input (stream: %s)',
    async (stream) => {
      const way = { ...ways[0], model: 'anthropic/claude-test-1', format: 'anthropic', stream } as const;
      const usage = { input: 1000, output: 5, cachedInput: 600, cacheWrite: 300 };
      const reply = await ask({ ...way, key: '', way: '' }, { text: 'Hello.', usage });
      expect(reply.usage).toMatchObject({ input: 1000, cached_input: 600, cache_write: 300 });
    },
  );

  it('that filled the context window is too long a context', async () => {
    const way = {
      model: 'anthropic/claude-test-1',
      format: 'anthropic',
      stream: true,
      key: '',
      way: '',
    } as const;
    const { answer } = await ask(way, { text: 'Once upon', finish: 'context_full' });
    expect(answer).toMatchObject({ kind: 'context_too_long' });
  });
});
