import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startProviderServer, variablesFor } from '../../../test/fakes/providers/index.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { createContext } from '../context.ts';
import { gateway } from './gateway.ts';

const body = { model: 'claude-haiku-9', max_tokens: 100, messages: [{ role: 'user', content: 'Hello?' }] };

test('mlab gateway serves programs outside of runs, within limits, and records their calls', async () => {
  await using provider = await startProviderServer();
  const stop = new AbortController();
  const lines: string[] = [];
  const variables = { ...variablesFor(provider), MLAB_GATEWAY_TOKEN: 'own-token' };
  const context = {
    ...createContext({}, variables, '0', stop.signal),
    log: (line: string) => lines.push(line),
  };
  const file = join(temporaryFolder(), 'calls.jsonl');
  const options = { port: 0, record: file, model: ['anthropic/claude-sonnet-4-5'], tokens: 2500 };
  const { text, json, stay } = await gateway.run(context, [], options);
  const { url } = json as { url: string };
  expect(text).toContain(`export ANTHROPIC_BASE_URL=${url}`);
  const staying = stay?.();
  const ask = (max_tokens: number, model = body.model) =>
    fetch(`${url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'own-token' },
      body: JSON.stringify({ ...body, model, max_tokens }),
    });
  expect(await (await ask(100)).json()).toMatchObject({ content: [{ text: 'Hello.' }] });
  expect((await ask(2500)).status).toBe(400);
  expect((await ask(100, `m\nUsed: 0 tokens ${'x'.repeat(900)}`)).status).toBe(200);
  stop.abort();
  await staying;
  expect(lines).toEqual([
    expect.stringContaining('1. anthropic/claude-sonnet-4-5 for claude-haiku-9: 100 read, 10 written, $0.0'),
    expect.stringContaining('Refused: this gateway may use 2500 tokens; 2390 are left'),
    expect.stringMatching(/^3\. anthropic\/claude-sonnet-4-5 for m Used: 0 tokens x+….{0,60}$/),
    expect.stringContaining('Used: 220 tokens'),
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '')).toMatchObject({
    ...{
      call: 1,
      asked: 'claude-haiku-9',
      model: 'anthropic/claude-sonnet-4-5',
      dialect: 'messages',
      status: 200,
    },
    ...{ usage: { input: 100, output: 10 }, request: JSON.stringify(body) },
  });
});
