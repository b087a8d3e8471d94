import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { sha256OfFile } from '../lib/hash.ts';
import { removeTree } from '../lib/read-only-tree.ts';
import { checkPython, ensurePython } from '../tasks/index.ts';
import { buildWheel } from './build-wheel.ts';

const tools = ['setuptools==84.0.0'];
/** With uv and the tools, once made. */
let cache: string;
let missing: string | null = null;

beforeAll(async () => {
  cache = mkdtempSync(join(tmpdir(), 'mlab-test-'));
  const finding = await checkPython({ variables: process.env });
  if (finding.state !== 'ok') missing = `no Python that serves: ${finding.detail}`;
});

afterAll(() => removeTree(cache));

/** Writes `small-1.0.tar.gz`, whose setup.py begins with some code. */
function makeSourcePackage(folder: string, beginning: string, name = 'small'): string {
  const source = join(temporaryFolder(), 'small-1.0');
  mkdirSync(source);
  const setup = `from setuptools import setup\nsetup(name="${name}", version="1.0", py_modules=["small"])\n`;
  writeFileSync(join(source, 'setup.py'), `${beginning}\n${setup}`);
  writeFileSync(join(source, 'small.py'), 'seen = {}\n');
  writeFileSync(join(source, 'PKG-INFO'), 'Metadata-Version: 2.1\nName: small\nVersion: 1.0\n');
  const file = join(folder, 'small-1.0.tar.gz');
  execFileSync('tar', ['-czf', file, '-C', join(source, '..'), 'small-1.0']);
  return file;
}

function build(links: string, requirements: string) {
  const found = [process.env.PIP_FIND_LINKS, links].filter((place) => place !== undefined).join(' ');
  return ensurePython(requirements, {
    cache,
    variables: { ...process.env, PIP_FIND_LINKS: found, SECRET_KEY: 'sk-secret' },
    build: { packages: ['small'], tools, buildWheel },
  });
}

it('a package without a wheel is built in a sandbox: no file of yours, no variable, no network', async (context) => {
  context.skip(missing !== null, missing ?? '');
  const links = temporaryFolder();
  const secret = join(links, 'secret.txt');
  const written = join(links, 'written.txt');
  writeFileSync(secret, 'secret');
  const hostile = `
import os, socket
def attempt(action):
    try:
        action()
        return "did it"
    except OSError as error:
        return type(error).__name__
seen = {
    "reading": attempt(lambda: open(${JSON.stringify(secret)}).read()),
    "writing": attempt(lambda: open(${JSON.stringify(written)}, "w").write("x")),
    "network": attempt(lambda: socket.create_connection(("1.1.1.1", 53), timeout=2)),
    "variable": os.environ.get("SECRET_KEY", "none"),
}
open("small.py", "w").write(f"seen = {seen!r}")`;
  const file = makeSourcePackage(links, hostile);
  // The second pin is for other Pythons.
  const locked = `small==1.0 --hash=sha256:${await sha256OfFile(file)}\nsmall==0.9; python_version < "3"`;
  const { executable, packages } = await build(links, locked);
  expect(packages).toMatchObject({ small: '1.0' });
  const seen = execFileSync(executable, ['-c', 'import json, small; print(json.dumps(small.seen))'], {
    encoding: 'utf8',
  });
  expect(JSON.parse(seen)).toEqual({
    reading: 'FileNotFoundError',
    writing: expect.stringMatching(/Error$/),
    network: 'OSError',
    variable: 'none',
  });
  expect(existsSync(written)).toBe(false);
});

it('a package that is not built, is called otherwise, or is not that of the lock is refused with a reason', async (context) => {
  context.skip(missing !== null, missing ?? '');
  const failing = temporaryFolder();
  makeSourcePackage(failing, 'import cython_is_missing');
  await expect(build(failing, 'small==1.0')).rejects.toMatchObject({
    code: 'build_failed',
    message: expect.stringContaining('cython_is_missing'),
    hint: expect.stringContaining('build.tools'),
  });
  const other = temporaryFolder();
  makeSourcePackage(other, '', 'numpy');
  await expect(build(other, 'small==1.0')).rejects.toMatchObject({ code: 'build_failed' });
  const changed = temporaryFolder();
  makeSourcePackage(changed, '');
  await expect(build(changed, `small==1.0 --hash=sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({
    code: 'wrong_checksum',
  });
  await expect(build(changed, 'small==2.0')).rejects.toMatchObject({ code: 'no_package' });
});
