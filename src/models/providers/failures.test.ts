import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  type Fault,
  fakeKeys,
  fakeWires,
  startProviderServer,
  variablesFor,
} from '../../../test/fakes/providers/index.ts';
import type { ModelFailure, ProviderSettings } from '../../schema/index.ts';
import { ProviderError, type ProviderReply, type ProviderRequest } from '../provider-adapter.ts';
import { connectInThread, createProviderAdapter } from './index.ts';

const request: ProviderRequest = {
  messages: [{ role: 'user', text: 'Say hello.' }],
  tools: [],
  stop: [],
  temperature: null,
  maxOutputTokens: 100,
};
const ways = fakeWires.flatMap((wire) => [
  { ...wire, stream: true, connect: createProviderAdapter, way: `${wire.format}, streaming` },
  { ...wire, stream: false, connect: createProviderAdapter, way: `${wire.format}, at once` },
  { ...wire, stream: true, connect: connectInThread, way: `${wire.format}, streaming, in the thread` },
]);
type Way = Pick<(typeof ways)[number], 'model' | 'stream'> & { connect?: typeof connectInThread };

/** The result of one call if the server does this. */
async function callWith(
  way: Way,
  fault: Fault,
  settings: ProviderSettings = {},
): Promise<ProviderReply | ProviderError> {
  await using server = await startProviderServer({
    faults: [fault],
    answer: () => ({ text: 'Hello there, this is a reply of several pieces.' }),
  });
  const model = await (way.connect ?? createProviderAdapter)(
    way.model,
    { stream: way.stream, ...settings },
    variablesFor(server),
  );
  try {
    return await model.call(request, AbortSignal.timeout(10_000));
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
}

interface Case {
  what: string;
  fault: Fault;
  failure: ModelFailure;
  isPassing: boolean;
}
const status = (code: number, more: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault => ({
  kind: 'status',
  status: code,
  ...more,
});
const cases: Case[] = [
  { what: 'a key that is not accepted', fault: status(401), failure: 'unauthorised', isPassing: false },
  { what: 'a key that may not do this', fault: status(403), failure: 'unauthorised', isPassing: false },
  { what: 'a model that is not there', fault: status(404), failure: 'unknown_model', isPassing: false },
  { what: 'a wrong request', fault: status(400), failure: 'bad_request', isPassing: false },
  { what: 'a limit of requests', fault: status(429), failure: 'rate_limited', isPassing: true },
  { what: 'credit that is used up', fault: status(402), failure: 'quota_exhausted', isPassing: false },
  { what: 'trouble in the server', fault: status(500), failure: 'overloaded', isPassing: true },
  {
    what: 'a bad gateway',
    fault: status(502, { body: '<h1>Bad Gateway</h1>' }),
    failure: 'overloaded',
    isPassing: true,
  },
  { what: 'a server that is not available', fault: status(503), failure: 'overloaded', isPassing: true },
  {
    what: 'a gateway that waited too long',
    fault: status(504, { body: '' }),
    failure: 'overloaded',
    isPassing: true,
  },
  { what: 'overload', fault: status(529), failure: 'overloaded', isPassing: true },
  {
    what: 'overload in mid-stream',
    fault: { kind: 'overload-mid-stream' },
    failure: 'overloaded',
    isPassing: true,
  },
  { what: 'a reply that is cut', fault: { kind: 'cut' }, failure: 'connection', isPassing: true },
  { what: 'a connection that is reset', fault: { kind: 'reset' }, failure: 'connection', isPassing: true },
  {
    what: 'headers that do not come',
    fault: { kind: 'slow-headers', ms: 5_000 },
    failure: 'timed_out',
    isPassing: true,
  },
  { what: 'a reply that stops to come', fault: { kind: 'stall' }, failure: 'timed_out', isPassing: true },
  { what: 'a reply that is no JSON', fault: { kind: 'wrong-json' }, failure: 'malformed', isPassing: true },
  { what: 'a reply in another form', fault: { kind: 'other-schema' }, failure: 'malformed', isPassing: true },
  { what: 'a reply with no body', fault: { kind: 'empty-body' }, failure: 'malformed', isPassing: true },
  {
    what: 'a redirect',
    fault: status(307, { headers: { location: 'http://elsewhere.test/' } }),
    failure: 'bad_request',
    isPassing: false,
  },
];

it('names the setting for a server without a Responses API', async () => {
  const error = await callWith({ model: 'openai/gpt-5-test', stream: true }, status(404));
  expect(error).toMatchObject({
    hint: expect.stringMatching(
      /Responses API .*openai-compatible\/gpt-5-test and set MLAB_OPENAI_COMPATIBLE_URL/,
    ),
  });
  const chat = await callWith({ model: 'openai/gpt-4o-test', stream: true }, status(404));
  expect(chat).toMatchObject({ hint: expect.not.stringContaining('Responses') });
});

describe.each(ways)('a failed call ($way)', (way) => {
  it.each(cases)('$what is $failure', async ({ fault, failure, isPassing }) => {
    const isSilent = fault.kind === 'slow-headers' || fault.kind === 'stall';
    const error = await callWith(way, fault, isSilent ? { stall_seconds: 0.1 } : {});
    expect(error).toMatchObject({ name: 'ProviderError', failure, isPassing });
    expect(error).toHaveProperty('hint', expect.stringMatching(/\w/));
    expect(error).not.toHaveProperty('cause');
  });

  it('says how long the provider asks to wait', async () => {
    const error = await callWith(way, status(429, { headers: { 'retry-after': '7' } }));
    expect(error).toMatchObject({ failure: 'rate_limited', retryAfterMs: 7000 });
  });

  it('says what the provider said', async () => {
    const error = await callWith(way, status(400, { message: 'temperature must be below 1' }));
    expect(error).toHaveProperty('message', expect.stringContaining('temperature must be below 1'));
  });

  it('is a connection failure if nobody listens', async () => {
    const server = await startProviderServer();
    const variables = variablesFor(server);
    await server[Symbol.asyncDispose]();
    const model = await way.connect(way.model, { stream: way.stream }, variables);
    await expect(model.call(request, AbortSignal.timeout(10_000))).rejects.toMatchObject({
      failure: 'connection',
      isPassing: true,
      hint: expect.stringContaining(server.url),
    });
  });

  it('says in one line, once, that an https address is served over http', async () => {
    await using server = await startProviderServer();
    const places = Object.entries(variablesFor(server)).map(([name, value]) => [
      name,
      value?.replace(/^http:/, 'https:'),
    ]);
    const model = await way.connect(way.model, { stream: way.stream }, Object.fromEntries(places));
    const asked = model.call(request, AbortSignal.timeout(10_000));
    const error = await asked.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ failure: 'connection', message: expect.not.stringContaining('\n') });
    expect(String(error).match(/wrong version number/g)).toHaveLength(1);
  });

  it('is charged for what had arrived, and for nothing if it was refused', async () => {
    const broken = await callWith(way, { kind: 'overload-mid-stream' });
    const usage = broken instanceof ProviderError ? broken.usage : null;
    if (way.stream) {
      expect(usage).toMatchObject({ source: 'estimate', input: 4 });
      expect(usage?.output).toBeGreaterThan(0);
      expect(usage?.output).toBeLessThan(20);
    } else expect(usage).toBeNull();
    const silent = await callWith(way, { kind: 'slow-headers', ms: 5_000 }, { stall_seconds: 0.1 });
    expect(silent).toMatchObject({ usage: { input: 4, output: way.stream ? 0 : 100 } });
    for (const fault of [status(429), status(500), { kind: 'reset' } as const])
      expect(await callWith(way, fault)).toMatchObject({ usage: null });
  });

  it('reports its charge to the caller that aborted it', async () => {
    await using server = await startProviderServer({
      faults: [{ kind: 'stall' }, { kind: 'slow-headers', ms: 5_000 }],
    });
    const model = await way.connect(way.model, { stream: way.stream }, variablesFor(server));
    for (const reason of [new Error('the run is over'), 'a plain text']) {
      const control = new AbortController();
      const call = model.call(request, control.signal);
      setTimeout(() => control.abort(reason), 80);
      await expect(call).rejects.toMatchObject({
        name: 'ProviderCut',
        usage: { source: 'estimate', input: 4 },
      });
    }
    await expect(model.call(request, AbortSignal.abort('before'))).rejects.toBe('before');
    expect(server.requests).toHaveLength(2);
  });

  it('shows no key, whatever the server sends back', async () => {
    const key = Object.values(fakeKeys).find((value) => way.key === value) ?? '';
    const everyForm = [
      key,
      encodeURIComponent(key),
      btoa(key),
      btoa(`user:${key}`),
      `Bearer ${key}`,
      JSON.stringify(key),
    ];
    const echo = `You sent ${everyForm.join(' | ')}`;
    const faults = [
      status(401, { message: echo }),
      status(400, { body: echo }),
      status(500, { body: { detail: echo } }),
      status(429, { message: `${'x'.repeat(480)} ${echo}` }),
    ];
    for (const fault of faults) {
      const error = await callWith(way, fault);
      expect(error).toBeInstanceOf(ProviderError);
      const shown = `${inspect(error, { depth: 10, showHidden: true })} ${JSON.stringify(error)}`;
      for (const form of [key.slice(0, 12), btoa(key).slice(0, 12)]) expect(shown).not.toContain(form);
    }
  });
});

describe('a reply that ends half-way as if complete', () => {
  it.each(ways.filter(({ stream }) => stream))('is never taken for an answer ($way)', async (way) => {
    expect(await callWith(way, { kind: 'end-early' })).toMatchObject({
      failure: 'connection',
      isPassing: true,
    });
  });
  it.each(ways.filter(({ stream }) => !stream))(
    'is malformed if it is one piece of JSON ($way)',
    async (way) => {
      expect(await callWith(way, { kind: 'end-early' })).toMatchObject({
        failure: 'malformed',
        isPassing: true,
      });
    },
  );
});

describe('a key in an answer', () => {
  it.each(ways)('is removed ($way)', async ({ model, stream, key }) => {
    await using server = await startProviderServer({
      answer: (seen) => ({
        text: `Your key is ${seen.key}.`,
        reasoning: `The key ${seen.key} must stay secret.`,
        model: `model-${seen.key}`,
        toolCalls: [{ name: 'send', input: JSON.stringify({ [`${seen.key}`]: [seen.key] }) }],
      }),
    });
    const adapter = await createProviderAdapter(model, { stream }, variablesFor(server));
    const reply = await adapter.call(request, AbortSignal.timeout(10_000));
    expect(JSON.stringify(reply)).not.toContain(key);
    expect(reply.answer).toMatchObject({
      text: 'Your key is [key].',
      tool_calls: [{ input: { '[key]': ['[key]'] } }],
    });
    expect(inspect(adapter, { depth: 10, showHidden: true })).not.toContain(key);
  });
});
