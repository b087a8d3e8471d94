import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { mlab } from '../../test/fixtures/mlab-process.ts';
import { removeTree } from '../lib/read-only-tree.ts';
import { explain } from './explain.ts';

const folder = mkdtempSync(join(tmpdir(), 'mlab-explain-'));
const here = { folder };
// A test locks one of its folders.
afterAll(() => removeTree(folder));

describe('errors of the operating system', () => {
  test('after Ctrl-C, a command that does not resume says that it begins anew', () => {
    const stopped = new Error('aborted');
    expect(explain(stopped, true, 'mlab run').hint).toMatch(/again to resume/);
    for (const verb of ['new', 'check', 'baseline'])
      expect(explain(stopped, true, `mlab tasks ${verb}`).hint).not.toMatch(/resume/);
  });

  test('a folder that may not be read is reported as such, not as a bug', async (context) => {
    if (process.getuid?.() === 0) context.skip('root may read everything');
    const locked = join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(locked, 0);
    const { code, err } = await mlab(['runs', 'ls', '--dir', locked], here);
    expect(code).toBe(3);
    expect(err).not.toContain('bug');
  });

  test('a folder that is a file is reported as such, not as a bug', async () => {
    writeFileSync(join(folder, 'file'), '');
    const { code, err } = await mlab(['runs', 'ls', '--dir', 'file'], here);
    expect(code).toBe(3);
    expect(err).toMatch(/ENOTDIR[\s\S]*name another folder/);
    expect(err).not.toContain('bug');
  });

  test("a folder that can't be created, and a current folder that was deleted, are no bugs", () => {
    const failing = (code: string, syscall: string) =>
      explain(Object.assign(new Error(`${code}: ${syscall}`), { code, syscall }), false);
    expect(failing('ENOENT', 'mkdir').hint).toContain('read-only');
    expect(failing('ENOENT', 'uv_cwd').hint).toContain('change to another one');
    expect(failing('ENOENT', 'open').code).toBe('internal');
  });

  test.each(['EACCES', 'EROFS', 'ENOSPC', 'EDQUOT', 'EMFILE'])('%s comes with what to do', (code) => {
    const error = Object.assign(new Error(`${code}: no`), { code });
    expect(explain(error, false)).toMatchObject({
      code: 'system',
      exitCode: 3,
      hint: expect.stringMatching(/\w/),
    });
  });

  test('an unforeseen error is called a bug and shows where it happened', () => {
    const explained = explain(new TypeError('x is undefined'), false);
    expect(explained).toMatchObject({ code: 'internal', exitCode: 4 });
    expect(explained.hint).toContain('explain.heavy.test.ts');
  });
});

test('--verbose adds the stack of an error', async () => {
  const { code, err } = await mlab(['-v', 'runs', 'show', 'none'], here);
  expect(code).toBe(2);
  expect(err).toMatch(/There is no experiment or run "none"[\s\S]*\n {4}at /);
});
