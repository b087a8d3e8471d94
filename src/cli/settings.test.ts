import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { readExperiment } from './experiment-flags.ts';
import { readKeys, readSettings } from './settings.ts';

function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const settings = `
experiments: results
tasks: [own]
run:
  agents: [tools]
  sandbox: docker
  limits: { steps: 9, tokens: 5000 }
`;

test('settings count in their folder and below it, with folders relative to the file', async () => {
  const folder = folderWith({ 'mlab.config.yaml': settings });
  const below = join(folder, 'deep/er');
  mkdirSync(below, { recursive: true });
  const found = await readSettings(below);
  expect(found).toEqual(await readSettings(folder));
  expect(found.tasks).toEqual([join(folder, 'own')]);
  expect(found.variables).toEqual({ MLAB_EXPERIMENTS: join(folder, 'results') });
  expect((await readSettings(temporaryFolder())).path).toBeNull();
});

test('flags win over an experiment file, which wins over settings, limit by limit', async () => {
  const folder = folderWith({
    'mlab.config.yaml': settings,
    'e.yaml': 'tasks: [digits]\nlimits: { steps: 7 }',
  });
  const { run } = await readSettings(folder);
  const read = readExperiment(join(folder, 'e.yaml'), { tokens: 60, sandbox: 'none' }, run);
  expect(read).toMatchObject({ agents: ['tools'], sandbox: 'none', limits: { steps: 7, tokens: 60 } });
  expect(readExperiment(undefined, {}, run).limits).toEqual({ steps: 9, tokens: 5000 });
});

test.each([
  ['experimnts: x', /experimnts: there is no such key; did you mean "experiments"/],
  ['run: { agent: [tools] }', /run\.agent: .* did you mean "run\.agents"/],
  ['run: { agents: [./evil.ts] }', /run\.agents\.0: .*named with --agent/],
  ['run: { sandbox: none }', /run\.sandbox: .*--sandbox/],
  ['run: { providers: { openai: { base_url: "http://x" } } }', /run\.providers: there is no such key/],
  ['- one', /expected object/],
  ['a: [', /can't be read/],
])('settings are refused, naming file, key and fix: %s', async (text, message) => {
  const folder = folderWith({ 'mlab.config.yaml': text });
  await expect(readSettings(folder)).rejects.toThrow(message);
  await expect(readSettings(folder)).rejects.toThrow(join(folder, 'mlab.config.yaml'));
});

test('.env gives keys and names of models that the environment lacks, and nothing that starts programs', async () => {
  const folder = folderWith({
    '.env':
      'OPENAI_API_KEY=from-file\nGEMINI_API_KEY="quoted"\nMLAB_MODEL=openai/x\nMLAB_DOCKER=evil\nPATH=/evil\nNODE_OPTIONS=-r evil',
  });
  expect(await readKeys(folder, {})).toEqual({
    OPENAI_API_KEY: 'from-file',
    GEMINI_API_KEY: 'quoted',
    MLAB_MODEL: 'openai/x',
  });
  expect(await readKeys(folder, { OPENAI_API_KEY: 'own', GEMINI_API_KEY: 'own' })).toEqual({
    MLAB_MODEL: 'openai/x',
  });
  expect(await readKeys(temporaryFolder(), {})).toEqual({});
});

test('.env does not say where a key of the environment is sent', async () => {
  const folder = folderWith({ '.env': 'OPENAI_BASE_URL=http://own.example\nOPENAI_API_KEY=k' });
  expect(await readKeys(folder, {})).toEqual({ OPENAI_BASE_URL: 'http://own.example', OPENAI_API_KEY: 'k' });
  expect(await readKeys(folder, { OPENAI_API_KEY: 'own' })).toEqual({});
});
