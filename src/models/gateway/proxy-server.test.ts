import { afterEach, describe, expect, test } from 'vitest';
import {
  type ProviderServer,
  type ProviderServerOptions,
  startProviderServer,
  variablesFor,
} from '../../../test/fakes/providers/index.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { Quota } from '../quota.ts';
import { ModelRegistry } from '../registry.ts';
import { roleSettings } from '../role-settings.ts';
import type { CallRecord } from './caller.ts';
import type { ProxyOptions } from './proxy-options.ts';
import { ProxyServer } from './proxy-server.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

interface Place {
  provider: ProviderServer;
  proxy: ProxyServer;
  records: CallRecord[];
  url: string;
}

async function place(
  model: string,
  provided: ProviderServerOptions = {},
  options: Partial<ProxyOptions> = {},
): Promise<Place> {
  const provider = await startProviderServer(provided);
  open.push(provider);
  const roles = roleSettings(model);
  if (roles === null) throw new Error('no roles');
  const registry = new ModelRegistry({ variables: variablesFor(provider), folder: temporaryFolder() });
  const records: CallRecord[] = [];
  const proxy = await ProxyServer.listen(
    { port: 0 },
    {
      upstream: registry.upstream(roles),
      quota: new Quota({ of: 'this run' }),
      token: 'token-of-the-run',
      record: (call) => records.push(call),
      signal: new AbortController().signal,
      ...options,
    },
  );
  open.push(proxy);
  return { provider, proxy, records, url: `http://127.0.0.1:${proxy.port}` };
}

function post(url: string, path: string, body: unknown, token = 'token-of-the-run'): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

describe('the proxy', () => {
  test('passes a chat completion on, with the key, the model and the usage', async () => {
    const { provider, records, url } = await place('openai/gpt-4o', {
      answer: () => ({ text: 'Hi.', usage: { input: 100, output: 10, cachedInput: 40 } }),
    });
    const body = { model: 'whatever', messages: [{ role: 'user', content: 'Hello?' }] };
    const reply = await post(url, '/v1/chat/completions', body);
    expect(await reply.json()).toMatchObject({ choices: [{ message: { content: 'Hi.' } }] });
    expect(provider.requests[0]).toMatchObject({ key: 'openai-secret-2d8e4f6a0c', model: 'gpt-4o' });
    expect(records).toMatchObject([
      {
        answer: { kind: 'answered', text: 'Hi.' },
        usage: { input: 100, cached_input: 40, output: 10, source: 'provider' },
        cost: (60 * 2.5 + 40 * 1.25 + 10 * 10) / 1e6,
        request: { messages: [{ role: 'user', text: 'Hello?' }] },
        wire: { dialect: 'chat_completions', status: 200, request: JSON.stringify(body) },
      },
    ]);
  });

  test('streams, and keeps the usage that it asked for itself from the program', async () => {
    const { records, url } = await place('openai/gpt-4o', {
      answer: () => ({ text: 'Hello there.', toolCalls: [{ name: 'bash', input: '{"command":"ls"}' }] }),
    });
    const body = { stream: true, model: 'x', messages: [{ role: 'user', content: 'Hello?' }] };
    const text = await (await post(url, '/v1/chat/completions', body)).text();
    expect(text).not.toContain('prompt_tokens');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(records[0]).toMatchObject({
      usage: { input: 100, output: 10, source: 'provider' },
      answer: { text: 'Hello there.', tool_calls: [{ name: 'bash', input: { command: 'ls' } }] },
    });
  });

  test('takes the right token alone', async () => {
    const { url } = await place('openai/gpt-4o');
    expect((await post(url, '/v1/chat/completions', {}, 'wrong')).status).toBe(401);
  });
});
