import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { sha256 } from '../lib/hash.ts';
import { checkInstaller, checkPython } from './findings.ts';
import { ensurePython, ensureUv, PythonEnvironment } from './python-environment.ts';

const worker = new URL('../../test/fixtures/environment-worker.ts', import.meta.url).pathname;

/** With the hash of its wheel. */
const lockedSix =
  'six==1.17.0 --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274';

let missing: string | null = null;

beforeAll(async () => {
  const finding = await checkPython({ variables: process.env });
  if (finding.state !== 'ok') missing = `no Python that serves: ${finding.detail}`;
});

function start(cache: string, requirements: string) {
  const child = spawn(process.execPath, [worker, cache, requirements], { stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    printed.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed.stderr += chunk;
  });
  const ended = new Promise<typeof printed>((resolve) => child.once('close', () => resolve(printed)));
  return { child, printed, ended };
}

/** A minimal wheel. @param starting code that Python would run at every start in its environment */
function makeWheel(folder: string, starting = ''): Buffer {
  const source = temporaryFolder();
  const about = join(source, 'small-1.0.dist-info');
  mkdirSync(about);
  writeFileSync(join(source, 'small.py'), '');
  writeFileSync(join(about, 'METADATA'), 'Metadata-Version: 2.1\nName: small\nVersion: 1.0\n');
  writeFileSync(join(about, 'WHEEL'), 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  writeFileSync(join(source, 'small.pth'), starting);
  writeFileSync(join(about, 'RECORD'), 'small.py,,\nsmall.pth,,\n');
  const wheel = join(folder, 'small-1.0-py3-none-any.whl');
  const parts = ['small.py', 'small.pth', 'small-1.0.dist-info/'];
  execFileSync('python3', ['-m', 'zipfile', '-c', wheel, ...parts], { cwd: source });
  return readFileSync(wheel);
}

describe('a Python environment', () => {
  it('has the pinned packages, is found again, and records what it was made from', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const cache = temporaryFolder();
    const made = await ensurePython('six==1.17.0\n', { cache });
    expect(made.packages.six).toBe('1.17.0');
    const code = 'import six, sys; print(six.__version__, sys.base_prefix, sys.prefix)';
    const [version, base, prefix] = execFileSync(made.executable, ['-c', code], { encoding: 'utf8' })
      .trim()
      .split(' ');
    expect([version, base, prefix]).toEqual(['1.17.0', made.basePrefix, made.environment]);
    expect(readdirSync(made.sitePackages)).toContain('six.py');
    const messages: string[] = [];
    const again = await ensurePython('# a note\nSix == 1.17.0', {
      cache,
      onProgress: (text) => messages.push(text),
    });
    expect(again).toEqual(made);
    expect(messages).toEqual([]);
  });

  it('is installed by uv if a lock has hashes, as copied files, without pip', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const cache = temporaryFolder();
    const messages: string[] = [];
    const onProgress = (text: string) => messages.push(text);
    const made = await ensurePython(lockedSix, { cache, onProgress });
    expect(made.packages).toEqual({ six: '1.17.0' });
    expect(messages.join('\n')).not.toContain('pip');
    expect(statSync(join(made.sitePackages, 'six.py')).nlink).toBe(1);
    expect(existsSync(join(made.sitePackages, '__pycache__'))).toBe(true);
    expect((await checkInstaller(cache, { variables: process.env })).detail).toContain(cache);
  });

  it('is installed by pip, with the same hashes, if uv is not available', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const wheels = temporaryFolder();
    const hash = sha256(makeWheel(wheels));
    const variables = {
      ...process.env,
      PIP_NO_INDEX: '1',
      PIP_FIND_LINKS: wheels,
      PIP_CONFIG_FILE: '/dev/null',
    };
    const messages: string[] = [];
    const place = { cache: temporaryFolder(), variables, onProgress: (text: string) => messages.push(text) };
    const made = await ensurePython(`small==1.0 --hash=sha256:${hash}`, place);
    expect(made.packages.small).toBe('1.0');
    expect(messages.join('\n')).toContain("can't be installed, so pip is used");
    const other = ensurePython(`small==1.0 --hash=sha256:${'0'.repeat(64)}`, { ...place, installer: 'pip' });
    await expect(other).rejects.toMatchObject({ code: 'wrong_checksum' });
  });

  it.for(['pip', 'uv'] as const)(
    'is made without running what %s installs in it',
    async (installer, context) => {
      context.skip(missing !== null, missing ?? '');
      const folder = temporaryFolder();
      const mark = join(folder, 'ran');
      const hash = sha256(makeWheel(folder, `import os; os.open(${JSON.stringify(mark)}, os.O_CREAT)\n`));
      const cache = temporaryFolder();
      if (installer === 'uv') await ensureUv({ cache });
      const variables = {
        ...process.env,
        // Neither is asked.
        PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
        PIP_NO_INDEX: '1',
        PIP_FIND_LINKS: folder,
        PIP_CONFIG_FILE: '/dev/null',
      };
      const locked = installer === 'uv' ? ` --hash=sha256:${hash}` : '';
      const messages: string[] = [];
      const onProgress = (text: string) => messages.push(text);
      const made = await ensurePython(`small==1.0${locked}`, { cache, variables, onProgress });
      expect(made.packages.small).toBe('1.0');
      expect('pip' in made.packages, messages.join('\n')).toBe(installer === 'pip');
      expect(existsSync(mark)).toBe(false);
      execFileSync(made.executable, ['-I', '-c', '']);
      expect(existsSync(mark)).toBe(true);
    },
  );

  it('is not built from source packages, which could run any code', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const folder = temporaryFolder();
    const source = join(folder, 'evil-1.0');
    mkdirSync(source);
    writeFileSync(join(source, 'setup.py'), `open(${JSON.stringify(join(folder, 'ran'))}, 'w')`);
    writeFileSync(join(source, 'PKG-INFO'), 'Metadata-Version: 1.0\nName: evil\nVersion: 1.0\n');
    execFileSync('tar', ['-czf', join(folder, 'evil-1.0.tar.gz'), '-C', folder, 'evil-1.0']);
    const variables = {
      ...process.env,
      PIP_NO_INDEX: '1',
      PIP_FIND_LINKS: folder,
      PIP_CONFIG_FILE: '/dev/null',
    };
    const failing = ensurePython('evil==1.0', { cache: temporaryFolder(), variables });
    await expect(failing).rejects.toMatchObject({ code: 'no_package' });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('is made once by concurrent processes', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const cache = temporaryFolder();
    const workers = [1, 2, 3, 4].map(() => start(cache, 'six==1.17.0'));
    const printed = await Promise.all(workers.map(({ ended }) => ended));
    const environments = printed.map(({ stdout }) => PythonEnvironment.parse(JSON.parse(stdout)).environment);
    expect(new Set(environments).size).toBe(1);
    expect(printed.filter(({ stderr }) => stderr.includes('installing'))).toHaveLength(1);
    expect(printed.filter(({ stderr }) => stderr.includes('waiting for process'))).not.toHaveLength(0);
  });

  it('is made again after its builder was killed half way', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const cache = temporaryFolder();
    for (const word of ['making', 'installing']) {
      const { child, printed, ended } = start(cache, 'six==1.17.0');
      while (!printed.stderr.includes(word) && child.exitCode === null) await sleep(10);
      await sleep(50);
      child.kill('SIGKILL');
      await ended;
    }
    const made = await ensurePython('six==1.17.0', { cache });
    expect(made.packages.six).toBe('1.17.0');
  });

  it('is made again if it was damaged, and needs no pip if nothing is installed', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const cache = temporaryFolder();
    const first = await ensurePython('', { cache });
    expect(first.packages).toEqual({});
    rmSync(first.sitePackages, { recursive: true });
    const second = await ensurePython('', { cache });
    expect(second.environment).not.toBe(first.environment);
    expect(readdirSync(join(cache, 'environments')).length).toBe(1);
  });

  it('that can’t be made ends in an error with pip’s last words, and keeps the log', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const cache = temporaryFolder();
    const variables = { PATH: process.env.PATH, HOME: process.env.HOME, PIP_NO_INDEX: '1' };
    const error = await ensurePython('six==1.17.0', { cache, variables }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'no_package', message: expect.stringContaining('six==1.17.0') });
    const log = /log: (\S+)$/.exec((error as { hint: string }).hint)?.[1] ?? '';
    expect(readFileSync(log, 'utf8')).toContain('pip install');
  });

  it('says that the network is missing', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const variables = {
      PATH: process.env.PATH,
      HOME: temporaryFolder(),
      PIP_CONFIG_FILE: '/dev/null',
      PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
      PIP_RETRIES: '1',
    };
    const failing = ensurePython('six==1.17.0', { cache: temporaryFolder(), variables });
    await expect(failing).rejects.toMatchObject({
      code: 'offline',
      hint: expect.stringContaining('PIP_FIND_LINKS'),
    });
  });

  it('is aborted at once on request', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error('stopped by hand'));
    const failing = ensurePython('six==1.17.0', {
      cache: temporaryFolder(),
      onProgress,
      signal: controller.signal,
    });
    await expect(failing).rejects.toThrow('stopped by hand');
  });
});
