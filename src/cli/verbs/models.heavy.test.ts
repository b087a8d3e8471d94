import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fakeKeys, startProviderServer, variablesFor } from '../../../test/fakes/providers/index.ts';
import { mlab } from '../../../test/fixtures/mlab-process.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';

test('without any settings it says what each provider lacks, and how to name a model', async () => {
  const { code, out } = await mlab(['models'], { folder: temporaryFolder() });
  expect(code).toBe(0);
  for (const word of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'MLAB_OPENAI_COMPATIBLE_URL', 'MLAB_MODEL'])
    expect(out).toContain(word);
});

test('it shows the effective roles: flags before the file before the environment', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'e.yaml'), 'roles:\n  editor: { model: openai/from-file, temperature: 0 }\n');
  const variables = {
    MLAB_MODEL: 'google/from-env',
    MLAB_FAST_MODEL: 'google/fast',
    OPENAI_API_KEY: 'key-1',
  };
  const argv = ['models', '--file', 'e.yaml', '--model', 'anthropic/claude-haiku-4-5', '--json'];
  const { code, out } = await mlab(argv, { folder, variables });
  expect(code, out).toBe(0);
  const { roles, providers, prices } = JSON.parse(out);
  expect(roles).toMatchObject([
    { role: 'agent', model: 'anthropic/claude-haiku-4-5', temperature: 0.5, max_output_tokens: 2000 },
    { role: 'editor', model: 'openai/from-file', temperature: 0, max_output_tokens: 4000, problem: null },
    { role: 'fast', model: 'google/fast', price: null },
  ]);
  expect(roles[0].problem).toContain('ANTHROPIC_API_KEY');
  expect(providers).toContainEqual(expect.objectContaining({ provider: 'openai', usable: true }));
  expect(prices['anthropic/claude-haiku-4-5']).toMatchObject({ input: 1, output: 5 });
});

test('a ping shows time, tokens and who answered; one failure makes the exit code 1, with what to do', async () => {
  await using server = await startProviderServer({
    answer: () => ({ text: 'ready', usage: { input: 12, output: 1 }, model: 'model-2026' }),
  });
  const place = { folder: temporaryFolder(), variables: { ...variablesFor(server), OPENAI_API_KEY: '' } };
  const good = await mlab(['models', '--ping', 'anthropic/claude-haiku-4-5', 'google/x'], place);
  expect(good.code, good.err).toBe(0);
  expect(good.out).toMatch(/anthropic\/claude-haiku-4-5 +\d+\.\d s +12 \/ 1 +\$0\.000017 +model-2026 +ready/);
  const mixed = await mlab(['models', '--ping', 'google/x', 'openai/x'], place);
  expect(mixed.code).toBe(1);
  expect(mixed.out).toMatch(/✗ openai\/x .*OPENAI_API_KEY.*\n +→ Set OPENAI_API_KEY/);
  const compatible = ['models', '--ping', '--model', 'openai-compatible/x', '--base-url'];
  const { code, out } = await mlab([...compatible, server.baseUrls['openai-compatible'], '--json'], place);
  expect(code, out).toBe(0);
  expect(JSON.parse(out).pings).toMatchObject([{ model: 'openai-compatible/x', answered: true }]);
  for (const key of Object.values(fakeKeys)) expect(good.out + mixed.out + out).not.toContain(key);
});

test.each([
  [['--ping'], /--ping needs a model/],
  [['--ping', 'gpt'], /gpt is not the name of a model/],
  [['openai/x'], /mlab models --ping openai\/x/],
  [['--model', 'gpt'], /models.0: a provider and a model/],
  [['--base-url', 'nonsense'], /base_url: an address of http or https/],
  [['--base-url', ''], /base_url: an address of http or https/],
  [['--base-url', 'http://me:secret@localhost/v1'], /base_url: it must not contain a user name/],
])('mlab models %j is refused with what to do', async (argv, message) => {
  const { code, err } = await mlab(['models', ...argv], { folder: temporaryFolder() });
  expect(code).toBe(2);
  expect(err).toMatch(message);
});
