import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeTask, type TaskOptions } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { UserError } from '../lib/errors.ts';
import { dataCaveats, loadPrepared, loadTask, prepareTask, sampleOf } from './index.ts';
import type { PythonEnvironment } from './python-environment.ts';
import { findInterpreter } from './python-interpreter.ts';

let python: PythonEnvironment;
let noPython: string | null = null;

beforeAll(async () => {
  try {
    const { executable, basePrefix, version } = await findInterpreter({ variables: process.env });
    const packages = {};
    python = { environment: basePrefix, executable, basePrefix, version, sitePackages: basePrefix, packages };
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    noPython = error.message;
  }
});

/** Copies what is in the downloads. */
const splitting = `import argparse
from pathlib import Path

parser = argparse.ArgumentParser()
for name in ("downloads", "public", "private"):
    parser.add_argument(f"--{name}", type=Path, required=True)
folders = parser.parse_args()
(folders.public / "test.csv").write_text((folders.downloads / "rows.csv").read_text())
(folders.private / "labels.csv").write_text("id,colour\\n")
`;

const making = `import argparse, random
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--downloads", type=Path, required=True)
parser.add_argument("--seed", type=int, required=True)
sample = parser.parse_args()
number = random.Random(sample.seed).randrange(1000)
(sample.downloads / "rows.csv").write_text(f"id,size\\n1,{number}\\n")
`;

const measured = { spread: 0.01, seeds: 3, seconds: 1 };
const sample = {
  description: 'one row',
  baseline: { mean: 0.25, ...measured },
  reference: { mean: 0.75, ...measured },
};
const sources = [{ file: 'rows.csv', kaggle: 'colours', licence: 'its own' }];

function setUp(options: TaskOptions = {}) {
  const folder = temporaryFolder();
  const tasks = join(folder, 'tasks');
  makeTask(tasks, 'colours', {
    fields: { sources, sample, ...options.fields },
    files: { 'hidden/prepare.py': splitting, 'hidden/sample.py': making, ...options.files },
  });
  const helpers = join(folder, 'python');
  mkdirSync(join(helpers, 'mlab_task'), { recursive: true });
  const settings = { cache: join(folder, 'cache'), helpers, allowUnverified: false };
  return { task: () => loadTask('colours', [tasks]), folder, tasks, settings };
}

describe('sample data', () => {
  it('replaces the sources, is the same everywhere, and is prepared like them', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const first = setUp();
    const data = await prepareTask(sampleOf(first.task()), { ...first.settings, python });
    expect(data.manifest).toMatchObject({ sample: true, sources: [], verified: true });
    const shown = readFileSync(join(data.publicFolder, 'test.csv'), 'utf8');
    expect(shown).toMatch(/^id,size\n1,\d+\n$/);
    const second = setUp();
    const again = await prepareTask(sampleOf(second.task()), { ...second.settings, python });
    expect(readFileSync(join(again.publicFolder, 'test.csv'), 'utf8')).toBe(shown);
    expect(await loadPrepared(sampleOf(first.task()), first.settings)).toEqual(data);
  });

  it('is never used as the real data, and is made again when its script changes', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, tasks, settings } = setUp();
    const data = await prepareTask(sampleOf(task()), { ...settings, python });
    expect(await loadPrepared(task(), { ...settings, allowUnverified: true })).toBeNull();
    writeFileSync(
      join(tasks, 'colours/hidden/sample.py'),
      making.replace('randrange(1000)', 'randrange(2000)'),
    );
    const other = await prepareTask(sampleOf(task()), { ...settings, python });
    expect(other.folder).not.toBe(data.folder);
  });

  it('has figures that were measured on it, and a caveat on results', () => {
    const real = setUp().task();
    const made = sampleOf(real);
    expect(made.file.baseline).toMatchObject({ method: 'starter', mean: 0.25, seeds: 3 });
    expect(made.file.reference.mean).toBe(0.75);
    expect(made.version).toBe(real.version);
    expect([dataCaveats(real, true), dataCaveats(made, true)]).toEqual([[], ['sample data']]);
    expect(sampleOf(made)).toEqual(made);
  });

  it('is not needed for a task without downloads, and reported as missing for one with downloads', () => {
    const own = setUp({ fields: { sources: [], sample: undefined } }).task();
    expect(sampleOf(own)).toBe(own);
    const without = setUp({ fields: { sample: undefined } }).task();
    expect(() => sampleOf(without)).toThrow('has no sample data');
  });

  it('needs its script, and says what the script failed with', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, tasks, settings } = setUp({
      files: { 'hidden/sample.py': 'raise SystemExit("no numbers left")\n' },
    });
    const failing = prepareTask(sampleOf(task()), { ...settings, python });
    await expect(failing).rejects.toMatchObject({
      code: 'prepare_failed',
      message: expect.stringContaining('no numbers left'),
    });
    makeTask(tasks, 'greys', { fields: { sample } });
    expect(() => loadTask('greys', [tasks])).toThrow(/hidden\/sample\.py does not exist/);
  });
});
