import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fakeKeys,
  fakeWires,
  startProviderServer,
  variablesFor,
} from '../../../test/fakes/providers/index.ts';
import type { ModelMessage } from '../../schema/index.ts';
import type { ProviderRequest } from '../provider-adapter.ts';
import { createProviderAdapter } from './index.ts';
import { providerPrompt } from './prompt.ts';

const basic: ProviderRequest = {
  messages: [{ role: 'user', text: 'Say hello.' }],
  tools: [],
  stop: [],
  temperature: null,
  maxOutputTokens: 100,
};
const readFile = {
  name: 'read_file',
  description: 'Reads a file.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

/** The body that goes over the network for this request. */
async function sent(model: string, changes: Partial<ProviderRequest>): Promise<unknown> {
  await using server = await startProviderServer();
  const adapter = await createProviderAdapter(model, {}, variablesFor(server));
  await adapter.call({ ...basic, ...changes }, AbortSignal.timeout(10_000));
  return server.requests[0]?.body;
}

describe('tool calls that providers would reject', () => {
  const call = (id: string, name: string) => ({ id, name, input: {} });
  const answer = (call_id: string, name: string, text: string): ModelMessage => ({
    ...{ role: 'tool', call_id, name, text },
  });
  const reply = (...tool_calls: ReturnType<typeof call>[]): ModelMessage => ({
    ...{ role: 'assistant', text: '', tool_calls },
  });
  const idsAndNames = (messages: ModelMessage[], kind: 'anthropic' | 'openai-compatible' = 'anthropic') =>
    providerPrompt({ kind, model: 'm' }, messages).flatMap(({ content }) =>
      Array.isArray(content)
        ? content.map((part) => ('toolCallId' in part ? `${part.toolCallId} ${part.toolName}` : part.type))
        : [],
    );

  it('get valid names', () => {
    const long = 'x'.repeat(100);
    const messages = [
      reply(call('a', 'functions.list files'), call('b', ''), call('c', long)),
      answer('a', 'functions.list files', 'none'),
      answer('b', '', 'none'),
      answer('c', long, 'none'),
    ];
    const sound = ['a functions_list_files', 'b unnamed', `c ${'x'.repeat(64)}`];
    expect(idsAndNames(messages)).toEqual([...sound, ...sound]);
  });

  it('get unique ids, and their answers the same ones, in order', () => {
    const turn = [reply(call('', 'f'), call('', 'g')), answer('', 'f', 'one'), answer('', 'g', 'two')];
    expect(idsAndNames([...turn, ...turn])).toEqual([
      ...['call f', 'call_2 g', 'call f', 'call_2 g'],
      ...['call_3 f', 'call_4 g', 'call_3 f', 'call_4 g'],
    ]);
  });

  it('keep the ids of the server, except for Anthropic', () => {
    const messages = [reply(call('functions.f:0', 'f')), answer('functions.f:0', 'f', 'one')];
    expect(idsAndNames(messages)).toEqual(['functions_f_0 f', 'functions_f_0 f']);
    expect(idsAndNames(messages, 'openai-compatible')).toEqual(['functions.f:0 f', 'functions.f:0 f']);
  });

  it("are also corrected within the provider's own form", () => {
    const content = [
      { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 's' } } },
      { type: 'tool-call', toolCallId: 'a', toolName: 'no such', input: {} },
    ];
    const provider = { kind: 'anthropic', model: 'm', content };
    const messages = [{ ...reply(call('a', 'no such')), provider }, answer('a', 'no such', 'none')];
    expect(idsAndNames(messages as ModelMessage[])).toEqual(['reasoning', 'a no_such', 'a no_such']);
  });
});

describe('a conversation', () => {
  const messages: ModelMessage[] = [
    { role: 'system', text: 'You are careful.' },
    { role: 'system', text: 'You are short.' },
    { role: 'user', text: 'The task.' },
    { role: 'user', text: 'The budget.' },
    {
      role: 'assistant',
      text: 'Let me look.',
      tool_calls: [{ id: 'c1', name: 'read_file', input: { path: 'a' } }],
    },
    { role: 'tool', call_id: 'c1', name: 'read_file', text: 'the contents' },
    { role: 'system', text: 'Hurry.' },
    { role: 'user', text: 'Go on.' },
  ];

  it('has plain texts and one message per turn for a compatible server', async () => {
    expect(await sent('openai-compatible/llama', { messages })).toMatchObject({
      messages: [
        { role: 'system', content: 'You are careful.\n\nYou are short.' },
        { role: 'user', content: 'The task.\n\nThe budget.' },
        {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'the contents' },
        { role: 'user', content: 'Hurry.\n\nGo on.' },
      ],
    });
  });

  it('keeps texts separate for Anthropic', async () => {
    expect(await sent('anthropic/claude', { messages })).toMatchObject({
      system: [{ text: 'You are careful.' }, { text: 'You are short.' }],
      messages: [
        { role: 'user', content: [{ text: 'The task.' }, { text: 'The budget.' }] },
        {
          role: 'assistant',
          content: [
            { text: 'Let me look.' },
            { type: 'tool_use', id: 'c1', name: 'read_file', input: { path: 'a' } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c1' }, { text: 'Hurry.' }, { text: 'Go on.' }],
        },
      ],
    });
  });

  it.each(fakeWires)('shows the model its call that was not JSON ($format)', async ({ model }) => {
    const body = await sent(model, {
      messages: [
        { role: 'user', text: 'Go.' },
        {
          role: 'assistant',
          text: '',
          tool_calls: [{ id: 'c1', name: 'read_file', input: '{"path": "tra' }],
        },
        { role: 'tool', call_id: 'c1', name: 'read_file', text: 'These arguments are no JSON.' },
      ],
      tools: [readFile],
    });
    expect(JSON.stringify(body)).toMatch(/unparsed.{5,20}path.{3,10}tra/);
  });

  it.each(fakeWires)(
    'leaves out empty parts, and repairs texts that are not valid Unicode ($format)',
    async ({ model }) => {
      const body = await sent(model, {
        messages: [
          { role: 'system', text: '' },
          { role: 'user', text: 'half \ud83d' },
          { role: 'assistant', text: '' },
          { role: 'user', text: '' },
        ],
      });
      expect(JSON.stringify(body)).toContain('half \ufffd');
      expect(JSON.stringify(body)).not.toMatch(/"(content|text)":""/);
    },
  );

  it('never has two consecutive user messages, and has its system text at the start', () => {
    const anyMessage = fc.record({
      role: fc.constantFrom('system', 'user', 'assistant'),
      text: fc.string(),
    } as const);
    fc.assert(
      fc.property(fc.array(anyMessage), fc.constantFrom(...fakeWires), (given, { format }) => {
        const kind = format === 'anthropic' || format === 'google' ? format : 'openai-compatible';
        const roles = providerPrompt({ kind, model: 'm' }, given).map(({ role }) => role);
        expect(roles.join(' ')).not.toContain('user user');
        expect(roles.join(' ').replace(/^(system ?)*/, '')).not.toContain('system');
        if (kind !== 'anthropic') expect(roles.filter((role) => role === 'system').length).toBeLessThan(2);
      }),
    );
  });
});

describe('the settings of a request', () => {
  it.each(fakeWires)('leave the temperature to the provider if it is null ($format)', async ({ model }) => {
    expect(JSON.stringify(await sent(model, {}))).not.toContain('temperature');
  });

  it.each([
    ['anthropic/claude', { temperature: 0.5, max_tokens: 100, stop_sequences: ['Observation:'] }],
    ['openai/gpt-4o', { temperature: 0.5, max_tokens: 100, stop: ['Observation:'], store: false }],
    ['openai-compatible/llama', { temperature: 0.5, max_tokens: 100, stop: ['Observation:'] }],
    [
      'google/gemini',
      { generationConfig: { temperature: 0.5, maxOutputTokens: 100, stopSequences: ['Observation:'] } },
    ],
    ['openai/gpt-5', { max_output_tokens: 100, store: false, include: ['reasoning.encrypted_content'] }],
  ])('have the form of %s', async (model, expected) => {
    expect(await sent(model, { temperature: 0.5, stop: ['Observation:'] })).toMatchObject(expected);
  });

  it('have at most as many stop texts as the provider accepts', async () => {
    const stop = ['one', 'two', 'three', 'four', 'five', 'six'];
    expect(await sent('openai/gpt-4o', { stop })).toMatchObject({ stop: stop.slice(0, 4) });
    expect(await sent('google/gemini', { stop })).toMatchObject({
      generationConfig: { stopSequences: stop.slice(0, 5) },
    });
  });

  it.each(fakeWires)('offer the tools with their schemas ($format)', async ({ model }) => {
    const body = JSON.stringify(await sent(model, { tools: [readFile] }));
    for (const part of ['read_file', 'Reads a file.', '"required":["path"]']) expect(body).toContain(part);
    expect(body).not.toContain('"strict":true');
  });
});

describe('the stable start of a prompt', () => {
  const messages: ModelMessage[] = [
    { role: 'system', text: 'You are careful.', stable: true },
    ...[1, 2, 3, 4].map((part) => ({ role: 'user' as const, text: `Part ${part}.`, stable: true })),
    { role: 'user', text: 'The budget.' },
  ];

  it('ends with a breakpoint for Anthropic, of which there are at most four', async () => {
    const breakpoint = { cache_control: { type: 'ephemeral' } };
    const body = await sent('anthropic/claude', { messages });
    expect(body).toMatchObject({
      messages: [{ content: [breakpoint, breakpoint, breakpoint, breakpoint, {}] }],
    });
    expect(JSON.stringify(body).split('cache_control')).toHaveLength(5);
  });

  it('may end with the result of a tool', async () => {
    const called: ModelMessage[] = [
      { role: 'user', text: 'Look.', stable: true },
      { role: 'assistant', text: '', tool_calls: [{ id: 'a', name: 'List_Files', input: {} }] },
      { role: 'tool', call_id: 'a', name: 'List_Files', text: 'train.py', stable: true },
    ];
    const body = JSON.stringify(await sent('anthropic/claude', { messages: called }));
    expect(body.split('cache_control')).toHaveLength(3);
    expect(body).toMatch(
      /"tool_result"[^{}]*"train\.py"[^{}]*"cache_control"|"tool_result".*"cache_control":\{"type":"ephemeral"\}/,
    );
  });

  it.each(fakeWires.filter(({ format }) => format !== 'anthropic'))(
    'is not marked if the provider detects it itself ($format)',
    async ({ model }) =>
      expect(JSON.stringify(await sent(model, { messages }))).not.toMatch(/cache_?control/i),
  );
});

describe('a reply with reasoning', () => {
  const signs: Partial<Record<string, string>> = {
    anthropic: '"thinking":"I should look.","signature":"c2lnbmVk"',
    responses: '"encrypted_content":"sealed"',
    google: '"thoughtSignature":"c2lnbmVk"',
    compatible: '"reasoning_content":"I should look."',
  };
  const streams = [true, false];
  const cases = fakeWires.flatMap((wire) =>
    streams.map((stream) => ({ ...wire, stream, sign: signs[wire.format] })),
  );

  it.each(cases)(
    'is sent back unchanged, and only to the same model ($format, stream: $stream)',
    async (wire) => {
      await using server = await startProviderServer({
        answer: () => ({
          reasoning: 'I should look.',
          text: 'Let me look.',
          toolCalls: [{ id: 'c1', name: 'read_file', input: '{"path":"a"}' }],
        }),
      });
      const request = { ...basic, tools: [readFile] };
      const call = async (model: string, messages: readonly ModelMessage[]) => {
        const reached = await createProviderAdapter(model, { stream: wire.stream }, variablesFor(server));
        const { answer } = await reached.call({ ...request, messages }, AbortSignal.timeout(10_000));
        if (answer.kind !== 'answered') throw new Error(answer.kind);
        return answer;
      };
      const { text, tool_calls, provider } = await call(wire.model, basic.messages);
      expect(provider === undefined).toBe(wire.format === 'chat');

      const stored: ModelMessage = JSON.parse(
        JSON.stringify({
          role: 'assistant',
          text,
          tool_calls,
          ...(provider === undefined ? {} : { provider }),
        }),
      );
      const next: ModelMessage[] = [
        ...basic.messages,
        stored,
        { role: 'tool', call_id: 'c1', name: 'read_file', text: 'the contents' },
      ];
      await call(wire.model, next);
      await call(`${wire.model}-mini`, next);
      const [, same, other] = server.requests.map(({ body }) => JSON.stringify(body));
      if (wire.sign !== undefined) expect(same).toContain(wire.sign);
      for (const body of [same, other])
        expect(body).toMatch(/Let me look\.[\s\S]*read_file[\s\S]*the contents/);
      if (wire.sign !== undefined) expect(other).not.toContain(wire.sign);
    },
  );
});

describe('the environment', () => {
  it.each(fakeWires)('is never read: only the given variables count ($format)', async ({ model, key }) => {
    const names = [
      ...Object.keys(fakeKeys),
      'ANTHROPIC_BASE_URL',
      'OPENAI_BASE_URL',
      'GOOGLE_GENERATIVE_AI_BASE_URL',
    ];
    const before = names.map((name) => [name, process.env[name]] as const);
    try {
      for (const name of names) process.env[name] = 'http://127.0.0.1:9/from-the-environment';
      await using server = await startProviderServer();
      const adapter = await createProviderAdapter(model, {}, variablesFor(server));
      await adapter.call(basic, AbortSignal.timeout(10_000));
      expect(server.requests[0]?.key).toBe(key);
      expect(JSON.stringify(server.requests)).not.toContain('from-the-environment');
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  it('gives a compatible server no key if none was given', async () => {
    await using server = await startProviderServer();
    const settings = { base_url: server.baseUrls['openai-compatible'] };
    const adapter = await createProviderAdapter('ollama/llama', settings, {});
    await adapter.call(basic, AbortSignal.timeout(10_000));
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
  });
});
