import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { tables } from '../src/exchange/index.ts';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import { messageOf } from '../src/lib/errors.ts';
import { ensurePython } from '../src/tasks/index.ts';
import { launcher, mlab } from './fixtures/mlab-process.ts';
import { makeStates } from './fixtures/store/run-states.ts';
import { temporaryFolder } from './fixtures/temporary-folder.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/how-to/analyse-results.md'), 'utf8');
const packages = 'pandas\npyarrow\nduckdb\npolars\nbackports.zstd\n';
const cache = cacheFolder(process.env);
const python = await ensurePython(packages, { cache }).catch((error) => messageOf(error));
const why = typeof python === 'string' ? ` (skipped: ${python})` : '';

test('the page describes every column of every table', () => {
  for (const [name, columns] of Object.entries(tables)) {
    const [, section = ''] = new RegExp(`^### ${name}\n(.*?)(?=^### |$(?![^]))`, 'ms').exec(page) ?? [];
    const names = Object.keys(columns).filter((column) => column !== 'experiment' && column !== 'run');
    expect(names.filter((column) => !section.includes(`\`${column}\``))).toEqual([]);
  }
});

describe.skipIf(typeof python === 'string')(`the Python reader${why}`, () => {
  /** A folder with an experiment that has a run in each state. */
  async function place(): Promise<string> {
    const folder = temporaryFolder();
    await makeStates(join(folder, 'experiments'));
    return folder;
  }

  async function run(folder: string, ...words: string[]): Promise<{ stdout: string; stderr: string }> {
    const executable = typeof python === 'string' ? '' : python.executable;
    const env = {
      ...process.env,
      ...{ MLAB: `${process.execPath} ${launcher}`, MLAB_TEST_EXPERIMENTS: join(folder, 'experiments') },
      ...{ PYTHONPATH: join(root, 'python/reader'), PYTHONDONTWRITEBYTECODE: '1' },
    };
    return await promisify(execFile)(executable, words, { cwd: folder, env });
  }

  test('passes its own tests with pandas and mlab', async () => {
    const folder = await place();
    const { stderr } = await run(
      folder,
      '-m',
      'unittest',
      'discover',
      '-s',
      join(root, 'python/reader/tests'),
    );
    expect(stderr).toMatch(/^OK$/m);
  });

  test('the examples of its page run', async () => {
    const folder = await place();
    const exported = await mlab(['runs', 'export', 'first', '--to', 'parquet', '--out', 'tables'], {
      folder,
    });
    expect(exported, exported.err).toMatchObject({ code: 0 });
    const examples = [...page.matchAll(/^```python\n(.*?)^```/gms)].map(([, code = '']) => code);
    expect(examples).toHaveLength(4);
    for (const code of examples) {
      const { stdout } = await run(folder, '-c', code.replaceAll('start-1', 'first'));
      expect(stdout, code).toMatch(/graded|train\.py/);
    }
  });
});
