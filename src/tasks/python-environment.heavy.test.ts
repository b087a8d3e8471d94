import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { checkPython } from './findings.ts';
import { ensurePython, PythonEnvironment } from './python-environment.ts';

const worker = new URL('../../test/fixtures/environment-worker.ts', import.meta.url).pathname;

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

describe('a Python environment', () => {
  it('holds the pinned packages, is found again, and says what it was made from', async (context) => {
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

  it('is made once by processes that ask at the same time', async (context) => {
    context.skip(missing !== null, missing ?? '');
    const cache = temporaryFolder();
    const workers = [1, 2, 3, 4].map(() => start(cache, 'six==1.17.0'));
    const printed = await Promise.all(workers.map(({ ended }) => ended));
    const environments = printed.map(({ stdout }) => PythonEnvironment.parse(JSON.parse(stdout)).environment);
    expect(new Set(environments).size).toBe(1);
    expect(printed.filter(({ stderr }) => stderr.includes('installing'))).toHaveLength(1);
    expect(printed.filter(({ stderr }) => stderr.includes('waiting for process'))).not.toHaveLength(0);
  });

  it('is made anew after its maker was killed half way', async (context) => {
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

  it('is made anew when it was damaged, and needs no pip where nothing is installed', async (context) => {
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

  it('is given up at once when that is asked for', async (context) => {
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
