import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tables } from '../src/exchange/index.ts';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import { messageOf } from '../src/lib/errors.ts';
import { removeTree } from '../src/lib/read-only-tree.ts';
import { ensurePython } from '../src/tasks/index.ts';
import { launcher, mlab } from './fixtures/mlab-process.ts';
import { makeStates } from './fixtures/store/run-states.ts';

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
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'mlab-test-'));
  const experiments = join(folder, 'experiments');
  beforeAll(async () => await makeStates(experiments));
  afterAll(() => removeTree(folder));

  async function run(...words: string[]): Promise<{ stdout: string; stderr: string }> {
    const executable = typeof python === 'string' ? '' : python.executable;
    const env = {
      ...process.env,
      ...{ MLAB: `${process.execPath} ${launcher}`, MLAB_TEST_EXPERIMENTS: experiments },
      ...{ PYTHONPATH: join(root, 'python/reader'), PYTHONDONTWRITEBYTECODE: '1' },
    };
    return await promisify(execFile)(executable, words, { cwd: folder, env });
  }

  test('passes its own tests with pandas and mlab', async () => {
    const { stderr } = await run('-m', 'unittest', 'discover', '-s', join(root, 'python/reader/tests'));
    expect(stderr).toMatch(/^OK$/m);
  });

  test('the examples of its page run', async () => {
    const exported = await mlab(['runs', 'export', 'first', '--to', 'parquet', '--out', 'tables'], {
      folder,
    });
    expect(exported, exported.err).toMatchObject({ code: 0 });
    const examples = [...page.matchAll(/^```python\n(.*?)^```/gms)].map(([, code = '']) => code);
    expect(examples).toHaveLength(4);
    for (const code of examples) {
      const { stdout } = await run('-c', code.replaceAll('start-1', 'first'));
      expect(stdout, code).toMatch(/graded|train\.py/);
    }
  });
});
