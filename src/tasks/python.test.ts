import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTask } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { cacheFolder } from '../lib/cache-folder.ts';
import { loadTask } from './find-tasks.ts';
import { checkCacheDisk, checkPython } from './findings.ts';
import { pythonVariables } from './host-variables.ts';
import { explainPipFailure, hasNoWheel } from './pip-failure.ts';
import { findInterpreter } from './python-interpreter.ts';
import { withheldPaths } from './withheld.ts';

/** A folder for PATH with programs that answer as an interpreter would. */
function programs(answers: Record<string, object | null>, more: string[] = []): { PATH: string } {
  const folder = temporaryFolder();
  for (const [name, answer] of Object.entries(answers)) {
    const print =
      answer === null
        ? 'echo "pyenv: version not installed" >&2; exit 127'
        : `echo '${JSON.stringify(answer)}'`;
    writeFileSync(join(folder, name), `#!/bin/sh\n${print}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  for (const tool of more) writeFileSync(join(folder, tool), '');
  return { PATH: folder };
}

function answer(version: number[], venv = true) {
  return { executable: '/opt/python', base_prefix: '/opt', version, platform: 'linux-x86_64', venv };
}

describe('finding Python', () => {
  it('uses the first that is new enough and complete', async () => {
    const variables = programs({
      python3: answer([3, 9, 1]),
      'python3.13': null,
      'python3.12': answer([3, 12, 1], false),
      'python3.11': answer([3, 11, 4]),
      'python3.10': answer([3, 10, 0]),
    });
    expect((await findInterpreter({ variables })).version).toBe('3.11.4');
  });

  it('says what is missing and the command that fixes it', async () => {
    const find = (variables: { PATH: string }) => findInterpreter({ variables });
    await expect(find(programs({ python3: answer([3, 12, 1], false) }, ['apt-get']))).rejects.toMatchObject({
      code: 'no_venv',
      hint: 'sudo apt-get install python3-venv',
    });
    await expect(find(programs({ python3: answer([3, 8, 1]) }, ['dnf']))).rejects.toMatchObject({
      code: 'old_python',
      hint: 'sudo dnf install python3',
    });
    await expect(find(programs({ python3: null }))).rejects.toMatchObject({ code: 'no_python' });
    expect(await checkPython({ variables: programs({}) })).toMatchObject({ state: 'missing' });
  });

  it('uses only the requested one', async () => {
    const variables = programs({ python3: answer([3, 12, 1]) });
    await expect(findInterpreter({ variables, interpreter: '/no/such/python' })).rejects.toMatchObject({
      code: 'no_python',
      message: '/no/such/python is no Python that can be started',
      hint: expect.stringContaining('--interpreter'),
    });
  });

  it('uses the required version, also from the folders of pyenv and uv', async () => {
    const found = async (more: Record<string, string>) => {
      const variables = { ...programs({ python3: answer([3, 13, 0]), 'python3.12': null }), ...more };
      return (await findInterpreter({ variables, pythonVersion: '3.12' })).version;
    };
    const nothing = temporaryFolder();
    for (const [variable, folder] of [
      ['PYENV_ROOT', 'versions/3.12.4/bin'],
      ['UV_PYTHON_INSTALL_DIR', 'cpython-3.12.4-linux-x86_64-gnu/bin'],
    ] as const) {
      const root = temporaryFolder();
      mkdirSync(join(root, folder), { recursive: true });
      const { PATH } = programs({ 'python3.12': answer([3, 12, 4]) });
      symlinkSync(join(PATH, 'python3.12'), join(root, folder, 'python3.12'));
      expect(await found({ HOME: nothing, [variable]: root })).toBe('3.12.4');
    }
    await expect(found({ HOME: nothing })).rejects.toMatchObject({
      code: 'no_python',
      message: 'no Python 3.12 was found (tried python3.12, python3)',
      hint: expect.stringContaining('pyenv install 3.12'),
    });
  });

  it('passes on variables that pip needs and drops misleading ones', () => {
    expect(
      pythonVariables({
        PATH: '/bin',
        PIP_FIND_LINKS: '/wheels',
        PYTHONPATH: '/x',
        VIRTUAL_ENV: '/v',
        PIP_TARGET: '/t',
      }),
    ).toEqual({ PATH: '/bin', PIP_FIND_LINKS: '/wheels' });
  });
});

describe('a failure of pip', () => {
  const explain = (output: string) => explainPipFailure({ exitCode: 1, signal: null, output }, '/log');
  const noMatch = 'ERROR: No matching distribution found for six==9';

  it('is explained by its cause: no network, no such version, no disk space', () => {
    const offline = `WARNING: Retrying … NewConnectionError … Temporary failure in name resolution\n${noMatch}`;
    expect(explain(offline).code).toBe('offline');
    expect(hasNoWheel(offline)).toBe(false);
    expect(explain(noMatch).code).toBe('no_package');
    expect(hasNoWheel(noMatch)).toBe(true);
    expect(explain('OSError: [Errno 28] No space left on device').code).toBe('disk_full');
    expect(explain('something else')).toMatchObject({ code: 'pip_failed', hint: 'the full log is /log' });
  });
});

describe('withheld files', () => {
  const environment = (sitePackages: string) => ({
    environment: '/e',
    executable: '/e/bin/python',
    basePrefix: '/usr',
    version: '3.12.1',
    sitePackages,
    packages: {},
  });

  it('are found in site-packages, and must exist', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'site/data'), { recursive: true });
    writeFileSync(join(folder, 'site/data/digits.csv'), '');
    symlinkSync('/etc/passwd', join(folder, 'site/data/link'));
    const paths = (withheld: string[]) => {
      const task = loadTask(makeTask(join(folder, 'tasks'), 'colours', { fields: { withheld } }), []);
      return withheldPaths(task, environment(join(folder, 'site')));
    };
    expect(paths(['data/digits.csv'])).toEqual([join(folder, 'site/data/digits.csv')]);
    expect(() => paths(['data/moved.csv'])).toThrow(/has no such file/);
    expect(() => paths(['data/link'])).toThrow(/outside site-packages/);
  });
});

describe('the cache folder', () => {
  it('comes from MLAB_CACHE, then XDG_CACHE_HOME, then the home', () => {
    const variables = { MLAB_CACHE: '/a', XDG_CACHE_HOME: '/b', HOME: '/home/ada' };
    expect(cacheFolder(variables)).toBe('/a');
    expect(cacheFolder({ ...variables, MLAB_CACHE: '' })).toBe('/b/mlagentbench');
    expect(cacheFolder({ XDG_CACHE_HOME: 'relative', HOME: '/home/ada' })).toBe(
      '/home/ada/.cache/mlagentbench',
    );
  });

  it('is checked for disk space before it exists', async () => {
    const finding = await checkCacheDisk(join(temporaryFolder(), 'not', 'yet'));
    expect(finding.detail).toMatch(/GiB free/);
  });

  it('is missing if it can not be written', async () => {
    // Nobody may write there, not even root.
    const finding = await checkCacheDisk('/proc/sys/not-there');
    expect(finding).toMatchObject({
      state: 'missing',
      detail: "the cache folder /proc/sys/not-there can't be written",
      fix: expect.stringContaining('set MLAB_CACHE'),
    });
  });
});
