import { chownSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixtureTasks } from '../../test/fixtures/fixture-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { createContext } from './context.ts';
import { readExperiment } from './experiment-flags.ts';
import { misspeltKeys, noSettings, readKeys, readSettings } from './settings.ts';
import { chooseTasks } from './task-resources.ts';

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

test('settings apply in their folder and below it, with folders relative to the file', async () => {
  const folder = folderWith({ 'mlab.config.yaml': settings });
  const below = join(folder, 'deep/er');
  mkdirSync(below, { recursive: true });
  const found = await readSettings(below);
  expect(found).toEqual(await readSettings(folder));
  expect(found.tasks).toEqual([join(folder, 'own')]);
  expect(found.variables).toEqual({ MLAB_EXPERIMENTS: join(folder, 'results') });
  expect((await readSettings(temporaryFolder())).path).toBeNull();
});

test.runIf(process.getuid?.() === 0)('settings and keys of another user are ignored', async () => {
  const folder = folderWith({ 'mlab.config.yaml': settings, '.env': 'OPENAI_API_KEY=k' });
  const below = join(folder, 'below');
  mkdirSync(below);
  for (const name of ['mlab.config.yaml', '.env']) chownSync(join(folder, name), 65_534, 65_534);
  for (const place of [folder, below]) {
    expect((await readSettings(place)).path).toBeNull();
    expect(await readKeys(place, {})).toEqual({});
  }
});

test('settings are read only from a regular file, and not from a huge one', async () => {
  const folder = temporaryFolder();
  for (const name of ['mlab.config.yaml', '.env']) symlinkSync('/dev/zero', join(folder, name));
  expect((await readSettings(folder)).path).toBeNull();
  expect(await readKeys(folder, {})).toEqual({});
  const huge = folderWith({ '.env': 'A=b\n'.repeat(2 ** 19), 'mlab.config.yaml': '#'.repeat(2 ** 21) });
  await expect(readSettings(huge)).rejects.toThrow('is larger than');
  await expect(readKeys(huge, {})).rejects.toThrow('is larger than');
});

test("tasks in a folder replace none of mlab's own, and join none of its suites; in a folder that is named they do, which is said", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'own'));
  for (const id of ['digits', 'other']) {
    const yaml = readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8');
    cpSync(join(fixtureTasks, 'sums'), join(folder, 'own', id), { recursive: true });
    const changed = yaml.replace(/^id: .*$/m, `id: ${id}`).replace('[fixtures]', '[starter, mine]');
    writeFileSync(join(folder, 'own', id, 'task.yaml'), changed);
  }
  const place = (options: object) => createContext(options, {}, '1', new AbortController().signal);
  const own = join(folder, 'own');
  const idsOf = (options: object, suite: string) =>
    chooseTasks(place(options), [], suite).map(({ file }) => file.id as string);
  const found = { settings: { ...noSettings, tasks: [own] } };
  expect(chooseTasks(place(found), ['digits'], undefined)[0]?.folder).not.toContain(own);
  expect(idsOf(found, 'starter')).not.toContain('other');
  expect(idsOf(found, 'mine')).toEqual(['other']);
  const lines: string[] = [];
  const named = { ...place({ taskDir: [own] }), log: (line: string) => lines.push(line) };
  expect(chooseTasks(named, ['digits', 'other'], undefined)[0]?.folder).toContain(own);
  expect(lines).toEqual([
    expect.stringMatching(/^digits: the task in \S+own\/digits, not the one in \S+digits$/),
  ]);
  expect(idsOf({ taskDir: [own] }, 'starter')).toContain('other');
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

test('prices of models can be settings; a price in the experiment file wins for its model', async () => {
  const price = (input: number) => `{ input: ${input}, output: 2, date: 2026-01-02, source: here }`;
  const folder = folderWith({
    'mlab.config.yaml': `run:\n  prices:\n    own/a: ${price(1)}\n    own/b: ${price(1)}`,
    'e.yaml': `tasks: [digits]\nprices:\n  own/b: ${price(5)}`,
  });
  const { run } = await readSettings(folder);
  expect(readExperiment(join(folder, 'e.yaml'), {}, run).prices).toMatchObject({
    'own/a': { input: 1 },
    'own/b': { input: 5 },
  });
  expect(readExperiment(undefined, {}, run).prices).toMatchObject({ 'own/b': { input: 1 } });
});

test.each([
  ['experimnts: x', /experimnts: unknown key; did you mean "experiments"/],
  ['run: { agent: [tools] }', /line 1: run\.agent: .* did you mean "agents"/],
  ['run: { agents: [./evil.ts] }', /run\.agents\.0: .*named with --agent/],
  ['agents: [tools]', /agents: .* did you mean "run\.agents"/],
  ['run: { sandbox: none }', /run\.sandbox: .*--sandbox/],
  ['run: { providers: { openai: { base_url: "http://x" } } }', /run\.providers: unknown key/],
  ['cache: here', /cache: unknown key\n.*MLAB_CACHE/],
  ['- one', /expected a mapping/],
  ['a: [', /can't be read/],
])('settings are refused, naming file, key and fix: %s', async (text, message) => {
  const folder = folderWith({ 'mlab.config.yaml': text });
  await expect(readSettings(folder)).rejects.toThrow(message);
  await expect(readSettings(folder)).rejects.toThrow(join(folder, 'mlab.config.yaml'));
});

test('.env provides keys and names of models that the environment lacks, and nothing that starts programs', async () => {
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

test('.env does not decide where a key of the environment is sent', async () => {
  const folder = folderWith({ '.env': 'OPENAI_BASE_URL=http://own.example\nOPENAI_API_KEY=k' });
  expect(await readKeys(folder, {})).toEqual({ OPENAI_BASE_URL: 'http://own.example', OPENAI_API_KEY: 'k' });
  expect(await readKeys(folder, { OPENAI_API_KEY: 'own' })).toEqual({});
});

test('a name in .env that is similar to one that mlab reads causes a warning, unless that one is set', async () => {
  const folder = folderWith({ '.env': 'OPENAI_APIKEY=k\nANTROPIC_API_KEY=k\nDATABASE_URL=x\nMY_API_KEY=k' });
  const path = join(folder, '.env');
  expect(await misspeltKeys(folder, {})).toEqual([
    `${path}: mlab does not know ANTROPIC_API_KEY; did you mean ANTHROPIC_API_KEY?`,
    `${path}: mlab does not know OPENAI_APIKEY; did you mean OPENAI_API_KEY?`,
  ]);
  expect(await misspeltKeys(folder, { OPENAI_API_KEY: 'own', ANTHROPIC_API_KEY: 'own' })).toEqual([]);
  expect(await misspeltKeys(temporaryFolder(), {})).toEqual([]);
});
