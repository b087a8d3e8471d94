import { existsSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mlab, startMlab } from '../../../test/fixtures/mlab-process.ts';
import { logFolderFiles, madeUpRun, writeFiles } from '../../../test/fixtures/original-run.ts';
import { removeTree } from '../../lib/read-only-tree.ts';

const folder = mkdtempSync(join(realpathSync(tmpdir()), 'mlab-test-'));
afterAll(() => removeTree(folder));
const run = (...argv: string[]) => mlab(argv, { folder });

beforeAll(async () => {
  writeFiles(join(folder, 'logs/llama/digits/3'), logFolderFiles(madeUpRun()));
  writeFiles(
    join(folder, 'logs/llama/Strange Task/0'),
    logFolderFiles({ ...madeUpRun(), error: 'ValueError: x' }),
  );
  const { code, err } = await run('runs', 'import', '--from', 'mlagentbench', 'logs', '--name', 'originals');
  if (code !== 0) throw new Error(err);
});

test('import reports what was imported, in text and as one JSON document', async () => {
  const again = await run('runs', 'import', '--from', 'mlagentbench', 'logs', '--name', 'originals');
  expect(again).toMatchObject({ code: 0 });
  expect(again.out).toMatch(/strange-task-llama-0 .* there already .*unknown task: cannot be graded/);
  expect(again.out).toContain('0 runs imported into originals; 2 were there already.');
  const json = await run('runs', 'import', '--from', 'mlagentbench', 'logs', '--name', 'originals', '--json');
  expect(JSON.parse(json.out)).toMatchObject({
    experiment: 'originals',
    runs: [
      { run: 'strange-task-llama-0', known_task: false },
      { run: 'digits-llama-3', steps: 10 },
    ],
  });
});

test('every command about runs works on imported ones', async () => {
  for (const argv of [
    ['check', 'originals'],
    ['ls', 'originals'],
    ['show', 'originals/digits-llama-3', '--step', '3'],
    ['calls', 'originals/digits-llama-3'],
    ['diff', 'originals/digits-llama-3', '2', '3'],
    ['restore', 'originals/digits-llama-3', 'last', 'restored'],
  ])
    expect(await run('runs', ...argv), argv.join(' ')).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, 'restored/submission.csv'))).toBe(true);
  expect((await run('report', 'originals')).out).toContain('mlagentbench/llama');
});

test('a run of a task that we lack cannot be graded, and the message says so', async () => {
  const { code, err } = await run('grade', 'originals/strange-task-llama-0');
  expect(code).toBe(2);
  expect(err).toContain('There is no task "strange-task"');
});

test('export writes every format, and refuses what it does not know', async () => {
  for (const format of ['mlagentbench', 'jsonl', 'git']) {
    const { code, out } = await run('runs', 'export', 'originals', '--to', format, '--out', format, '--json');
    expect(code, format).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ format, runs: [{ steps: 10 }, { steps: 10 }] });
  }
  for (const format of ['csv', 'parquet']) {
    const { code, out } = await run('runs', 'export', 'originals', '--to', format, '--out', format, '--json');
    expect(code, format).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ format, rows: { runs: 2, steps: 20 }, unreadable: [] });
  }
  expect(await run('runs', 'export', 'originals', '--to', 'csv', '--out', 'csv')).toMatchObject({ code: 2 });
  for (const argv of [
    ['export', 'originals', '--to', 'xml', '--out', 'x'],
    ['export', 'originals', '--to', 'csv'],
    ['export', 'originals', '--to', 'csv', '--out', 'x', '--tables', 'tasks'],
    ['export', 'originals', '--to', 'git', '--out', 'x', '--tables', 'runs'],
    ['export', 'no-such', '--to', 'csv', '--out', 'x'],
    ['import', 'logs'],
    ['import', '--from', 'others', 'logs'],
    ['import', '--from', 'mlagentbench', 'logs', '--sandbox', 'sand'],
    ['import', '--from', 'mlagentbench', 'no such folder'],
  ]) {
    const { code, err } = await run('runs', ...argv);
    expect(code, argv.join(' ')).toBe(2);
    expect(err).not.toMatch(/\bat .*\.ts:\d+/);
  }
});

test('Ctrl-C stops an import, and the same command resumes it', async () => {
  for (let number = 0; number < 60; number += 1)
    writeFiles(join(folder, 'many/llama/digits', String(number)), logFolderFiles(madeUpRun()));
  const command = ['runs', 'import', '--from', 'mlagentbench', 'many'];
  const started = startMlab(command, { folder });
  started.process.stderr?.once('data', () => started.process.kill('SIGINT'));
  expect(await started.ended).toMatchObject({ code: 130 });
  const { out } = await run(...command);
  expect(out).toMatch(/\d+ runs? imported into mlagentbench-many/);
  expect((await run('runs', 'check', 'mlagentbench-many')).out).toContain(
    '60 runs checked, 0 with problems.',
  );
});
