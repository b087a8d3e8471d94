import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repeatFailed } from '../scripts/repeat-failed.mjs';

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
  const { status, summary } = runVitest(files);
  expect(status).toBe(1);
  summary.failures.sort((one: { file: string }, other: { file: string }) => (one.file < other.file ? -1 : 1));
  expect(summary).toEqual({
    passed: 2,
    failed: 3,
    failures: [
      { file: 'bad.test.mjs', name: 'fails' },
      { file: 'broken.test.mjs', name: null },
    ],
    skipped: [
      { title: 'skipped.test.mjs > asks first', reason: 'no GPU here' },
      { title: 'skipped.test.mjs > is off', reason: 'no reason given' },
      { title: 'skipped.test.mjs > comes later', reason: 'not written yet' },
    ],
    seconds: Object.fromEntries(Object.keys(files).map((file) => [file, expect.any(Number)])),
    unrun: null,
  });
});

test('after its time no other test begins: the summary names the files that were not run, and counts failures before', () => {
  const wait = (ms: number) => `await new Promise((done) => setTimeout(done, ${ms}));`;
  const files = {
    'first.test.mjs': `
      test('fails', () => { throw new Error('expected here'); });
      test('takes too long', async () => { ${wait(30_000)} });`,
    'later.test.mjs': `test('is never reached', async () => { ${wait(1)} });`,
  };
  writeFileSync(
    join(project, 'vitest.config.mjs'),
    'export default { test: { fileParallelism: false, sequence: { sequencer: class { shard(f) { return f; } sort(f) { return f.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1)); } } } } };',
  );
  const { summary, printed } = runVitest(files, { MLAB_TEST_SECONDS: '4' });
  expect(summary).toMatchObject({ passed: 0, failed: 1, unrun: ['later.test.mjs'] });
  expect(printed).toContain('The time is over');
});

test('while tests run, a line from time to time says how many files are done, what runs, and how long it will take', () => {
  const { printed } = runVitest(
    { 'slow.test.mjs': "test('takes its time', () => new Promise((done) => setTimeout(done, 1500)));" },
    { MLAB_SECONDS_BETWEEN_LINES: '0.5', MLAB_SECONDS_AFTER: '60' },
  );
  // Ten seconds for a file that was never measured, minus its time so far; and the time for what follows.
  expect(printed).toMatch(
    /0 of 1 files after \d+ s, about 1 min \d+ s left; running: slow\.test\.mjs \(\d+ s\)/,
  );
});

test('failed tests run again alone: those that pass then are named, and only what fails again counts as failed', async () => {
  // Each test fails unless its name was tried before, as beside other tests it would.
  const trying = `
    import { appendFileSync, readFileSync } from 'node:fs';
    const log = ${JSON.stringify(join(project, 'tried.txt'))};
    const tried = (name) => {
      appendFileSync(log, name + '\\n');
      return readFileSync(log, 'utf8').split('\\n').filter((line) => line === name).length;
    };`;
  const files = {
    'load.test.mjs': `${trying}
      describe('a group (1 + 1)', () => {
        test('needs > 1 try, or $2', () => { if (tried('second') < 2) throw new Error('the first time'); });
        test('passes', () => { tried('other'); });
      });
      test('never passes', () => { throw new Error('each time'); });`,
    'begin.test.mjs': `${trying}
      beforeAll(() => { if (tried('hook') < 2) throw new Error('the first time'); });
      test('is not reached', () => {});`,
  };
  const { summary } = runVitest(files);
  expect(summary).toMatchObject({ passed: 1, failed: 3 });
  const runAgain = async (chosen: string[]) => {
    const { status, summary } = runVitest({}, {}, chosen);
    return { passed: status === 0, summary };
  };
  const again = await repeatFailed(summary, runAgain);
  const group = { file: 'load.test.mjs', name: 'a group (1 + 1) > needs > 1 try, or $2' };
  expect(again).toMatchObject({ passed: 2, failed: 2, unstable: [{ file: 'begin.test.mjs', name: null }] });
  const onlyGroup = { ...summary, failed: 1, failures: [group] };
  const lines = () => readFileSync(join(project, 'tried.txt'), 'utf8').split('\n');
  const others = lines().filter((line) => line === 'other').length;
  expect(await repeatFailed(onlyGroup, runAgain)).toMatchObject({ passed: 2, failed: 0, unstable: [group] });
  expect(lines().filter((line) => line === 'other')).toHaveLength(others);
});

/** Runs test files with only this reporter. */
function runVitest(
  files: Record<string, string>,
  variables: Record<string, string> = {},
  chosen: string[] = [],
) {
  for (const [file, content] of Object.entries(files)) {
    writeFileSync(join(project, file), `import { beforeAll, describe, test } from 'vitest';\n${content}\n`);
  }
  const summaryFile = join(project, 'summary.json');
  const reporter = join(root, 'scripts/test-reporter.mjs');
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status, stdout } = spawnSync(
    process.execPath,
    [vitest, 'run', `--reporter=${reporter}`, ...chosen],
    {
      cwd: project,
      env: { PATH: process.env.PATH, MLAB_TEST_SUMMARY: summaryFile, ...variables },
      encoding: 'utf8',
    },
  );
  return { status, printed: stdout, summary: JSON.parse(readFileSync(summaryFile, 'utf8')) };
}
