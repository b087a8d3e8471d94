import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { createExperiment } from '../store/index.ts';
import { completionOf } from './completion.ts';
import { createContext } from './context.ts';

const globals = [
  { flags: '--dir <folder>', description: 'folder' },
  { flags: '--json', description: 'JSON' },
];

/** What Tab offers in a store of two experiments. */
async function offered(words: readonly string[]): Promise<string[]> {
  const dir = temporaryFolder();
  for (const name of ['start-1', 'start-2'])
    createExperiment(join(dir, name), { ...examplePlan([`${name}-a`, `${name}-b`]), name: name as never });
  const context = createContext({ dir }, {}, '1', new AbortController().signal);
  return (await completionOf(context, words, globals)).map(({ value }) => value);
}

test.each([
  ['ru', ['run', 'runs']],
  ['runs re', ['restore', 'retry', 'replay']],
  ['--dir x runs tr', ['trace']],
  ['tasks show digi', ['digits']],
  ['run --task digits,vector', ['digits,vectorization']],
  ['run --task=digi', ['--task=digits']],
  ['run --sandbox = d', ['docker']],
  ['run --agent autom', ['automl']],
  ['run --dry-run --mirr', ['--mirror']],
  ['grade --json star', ['start-1', 'start-2']],
  ['runs show start-2/', ['start-2/start-2-a', 'start-2/start-2-b']],
  ['runs rm start-', ['start-1', 'start-2']],
  ['report --format la', ['latex']],
  ['run --suite star', ['starter']],
  ['completion f', ['fish']],
  ['unknown word ', []],
])('after "mlab %s" Tab offers %j', async (line, values) => {
  expect(await offered(line.split(' '))).toEqual(values);
});

test('a name that a shell would not read as a plain word is not offered', async () => {
  const tasks = temporaryFolder();
  for (const name of ['plain-task', 'plain$(touch evil)', 'plain;evil', 'plain\u001b[2J', 'plain\nevil']) {
    mkdirSync(join(tasks, name));
    writeFileSync(join(tasks, name, 'task.yaml'), '');
  }
  const context = createContext({ taskDir: [tasks] }, {}, '1', new AbortController().signal);
  const found = await completionOf(context, ['tasks', 'show', 'plain'], globals);
  expect(found.map(({ value }) => value)).toEqual(['plain-task']);
});

test('the script for bash passes on what was typed, and executes none of it', () => {
  const folder = temporaryFolder();
  const program = join(folder, 'mlab');
  const cli = join(import.meta.dirname, '../../bin/mlab.mjs');
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`);
  chmodSync(program, 0o755);
  const script = `source <(mlab completion bash)
COMP_WORDS=(mlab run '$(touch evil)' --task vector); COMP_CWORD=4; _mlab; printf '%s\\n' "\${COMPREPLY[@]}"; ls`;
  const { stdout } = spawnSync('bash', ['-c', script], {
    ...{ cwd: folder, encoding: 'utf8' },
    env: { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` },
  });
  expect(stdout).toBe('vectorization\nmlab\n');
});
