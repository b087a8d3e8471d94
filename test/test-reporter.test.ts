import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'mlab-reporter-'));
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  writeFileSync(join(project, 'vitest.config.mjs'), 'export default {};');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

test('the summary counts passed and failed tests, broken files and stray errors, and says why tests were skipped', () => {
  const files = {
    'good.test.mjs': "test('passes', () => {});",
    'bad.test.mjs': "test('fails', () => { throw new Error('expected here'); });",
    'broken.test.mjs': "import './not-there.mjs'; test('is never reached', () => {});",
    'stray.test.mjs': "test('leaves an error behind', () => { Promise.reject(new Error('stray')); });",
    'skipped.test.mjs': `
      test('asks first', (context) => context.skip('no GPU here'));
      test.skip('is off', () => {});
      test.todo('comes later');`,
  };
  for (const [file, content] of Object.entries(files)) {
    writeFileSync(join(project, file), `import { test } from 'vitest';\n${content}\n`);
  }
  const summaryFile = join(project, 'summary.json');
  const reporter = join(root, 'scripts/test-reporter.mjs');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run', `--reporter=${reporter}`], {
    cwd: project,
    env: { PATH: process.env.PATH, MLAB_TEST_SUMMARY: summaryFile },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(JSON.parse(readFileSync(summaryFile, 'utf8'))).toEqual({
    passed: 2,
    failed: 3,
    skipped: [
      { title: 'skipped.test.mjs > asks first', reason: 'no GPU here' },
      { title: 'skipped.test.mjs > is off', reason: 'no reason given' },
      { title: 'skipped.test.mjs > comes later', reason: 'not written yet' },
    ],
  });
});
