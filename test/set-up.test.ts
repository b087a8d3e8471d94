import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { packagesAreCurrent } from '../scripts/npm-packages.mjs';
import { isNewEnough } from '../scripts/project-node.mjs';
import { firstUnfinished } from '../scripts/start.mjs';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mlab-set-up-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writeJson(path: string, content: unknown): void {
  const absolute = join(folder, path);
  mkdirSync(dirname(absolute), { recursive: true });
  writeFileSync(absolute, JSON.stringify(content));
}

test('a Node is new enough for the package if it runs TypeScript without a flag, and for the sources if it supports `using`', () => {
  const forPackage = (version: string) => isNewEnough(version, false);
  expect(['22.18.0', '22.21.3', '23.6.0', '24.0.0', '26.1.0'].filter(forPackage)).toHaveLength(5);
  expect(['18.20.4', '20.19.5', '21.7.3', '22.17.1', '23.5.0'].filter(forPackage)).toEqual([]);
  const versions = ['20.19.5', '22.18.0', '23.11.0', '24.0.0', '26.1.0'];
  expect(versions.filter((version) => isNewEnough(version, true))).toEqual(['24.0.0', '26.1.0']);
});

describe('npm packages are installed again', () => {
  const wanted = {
    '': { name: 'project' },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/a-windows': { version: '1.0.0', integrity: 'sha512-w', optional: true },
  };
  const installed = { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' } };

  function areCurrent(lock: object, list: object | null): boolean {
    writeJson('package-lock.json', { packages: lock });
    if (list !== null) writeJson('node_modules/.package-lock.json', { packages: list });
    return packagesAreCurrent(folder);
  }

  test('not while they match the lock file, whoever installed them', () => {
    expect(areCurrent(wanted, installed)).toBe(true);
  });

  test('not after an optional package of this platform was added', () => {
    expect(
      areCurrent(wanted, { ...installed, 'node_modules/a-windows': wanted['node_modules/a-windows'] }),
    ).toBe(true);
  });

  test('if those for development are missing and needed', () => {
    const dev = { 'node_modules/tool': { version: '1.0.0', integrity: 'sha512-t', dev: true } };
    expect(areCurrent({ ...wanted, ...dev }, installed)).toBe(false);
    expect(packagesAreCurrent(folder, true)).toBe(true);
    expect(areCurrent({ ...wanted, ...dev }, { ...installed, ...dev })).toBe(true);
    expect(packagesAreCurrent(folder, true)).toBe(true);
  });

  test('in a fresh clone, and after an interrupted installation', () => {
    expect(areCurrent(wanted, null)).toBe(false);
    mkdirSync(join(folder, 'node_modules/a'), { recursive: true });
    expect(areCurrent(wanted, null)).toBe(false);
  });

  test('when the lock file has another version or another hash, one package more or one less', () => {
    const other = (entry: object) => ({ ...wanted, 'node_modules/a': entry });
    expect(areCurrent(other({ version: '1.0.1', integrity: 'sha512-a' }), installed)).toBe(false);
    expect(areCurrent(other({ version: '1.0.0', integrity: 'sha512-b' }), installed)).toBe(false);
    expect(areCurrent({ ...wanted, 'node_modules/b': { version: '1.0.0' } }, installed)).toBe(false);
    expect(areCurrent({ '': wanted[''] }, installed)).toBe(false);
  });
});

/**
 * A checkout of this project's scripts, whose packages are installed already; PATH has the programs that these tests
 * write.
 */
function checkOut(): { bin: string; scripts: string } {
  cpSync(join(import.meta.dirname, '../scripts'), join(folder, 'scripts'), {
    recursive: true,
    filter: (path) => !path.endsWith('node_modules'),
  });
  for (const list of ['package-lock.json', 'node_modules/.package-lock.json'])
    writeJson(list, { packages: {} });
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of ['bwrap', 'docker', 'python3']) program(join(bin, name), '');
  return { bin, scripts: join(folder, 'scripts') };
}

function program(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

const ownNode = `scripts/node/node_modules/node-${process.platform}-${process.arch}`;

describe('a separate Node', () => {
  /** An npm that records where it is called, and installs this Node, or nothing. */
  const npm = (brings: boolean) => `
    echo "$PWD $*" >> "${folder}/npm.log"
    /bin/mkdir -p node_modules "${folder}/${ownNode}/bin"
    /bin/cp package-lock.json node_modules/.package-lock.json
    ${brings ? `/bin/ln -s "${process.execPath}" "${folder}/${ownNode}/bin/node"` : ''}`;

  function setUp({ bin, scripts }: { bin: string; scripts: string }, old: boolean) {
    const preload = join(folder, 'pretend.mjs');
    writeFileSync(
      preload,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } });",
    );
    const before = old ? ['--import', preload] : [];
    const ended = spawnSync(process.execPath, [...before, join(scripts, 'setup.mjs')], {
      encoding: 'utf8',
      env: { PATH: bin },
    });
    const log = join(folder, 'npm.log');
    const calls = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    return { ...ended, calls };
  }

  test("is not downloaded if the machine's own is new enough, whether it runs set-up or is on PATH", () => {
    const checkout = checkOut();
    program(join(checkout.bin, 'npm'), npm(true));
    expect(setUp(checkout, false)).toMatchObject({ status: 0, stderr: '', calls: [] });
    symlinkSync(process.execPath, join(checkout.bin, 'node'));
    expect(setUp(checkout, true)).toMatchObject({ status: 0, stderr: '', calls: [] });
  });

  test("is downloaded once if the machine's own is too old, and npm finds it", () => {
    const checkout = checkOut();
    program(join(checkout.bin, 'npm'), npm(true));
    const first = setUp(checkout, true);
    expect(first.status, first.stderr).toBe(0);
    expect(first.stderr).toContain('There is no Node 24 or newer on this machine');
    expect(first.stderr).toMatch(/Installing Node \d+\.\d+\.\d+: \d+ MB/);
    expect(first.calls).toEqual([expect.stringMatching(/\/scripts\/node ci /)]);
    const linked = join(folder, 'node_modules/.bin/node');
    expect(spawnSync(linked, ['--version'], { encoding: 'utf8' }).stdout.trim()).toBe(process.version);
    const second = setUp(checkout, true);
    expect(second.stderr).toBe('');
    expect(second.calls).toHaveLength(1);
  });

  test('that could not be downloaded is tried again, and set-up says what else to do', () => {
    const checkout = checkOut();
    program(join(checkout.bin, 'npm'), npm(false));
    for (const count of [1, 2]) {
      const { status, stderr, calls } = setUp(checkout, true);
      expect(status).toBe(1);
      expect(stderr).toContain('mlab needs Node 24 or newer');
      expect(calls).toHaveLength(count);
    }
  });
});

describe('progress', () => {
  const module = pathToFileURL(join(import.meta.dirname, '../scripts/script.mjs')).href;

  test('is shown in a separate line at a terminal, which other lines do not break', () => {
    const script = `
      import { say, withProgress } from '${module}';
      process.stderr.isTTY = true;
      process.stderr.columns = 80;
      let done = 0;
      await withProgress(() => \`\${done} of 3 parts\`, async () => {
        for (; done < 3; done++) {
          await new Promise((resolve) => setTimeout(resolve, 300));
          say(\`part \${done} is there\`);
        }
      });
      say('over');`;
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    const lines = stderr.split('\n').map((line) => line.split('\r\u001b[K'));
    expect(lines.map((states) => states.at(-1))).toEqual([
      'part 0 is there',
      'part 1 is there',
      'part 2 is there',
      'over',
      '',
    ]);
    expect(lines.flat()).toContain('  1 of 3 parts … 0 s');
  });
});

describe('npm start works on', () => {
  /** Runs that are finished are graded. */
  function writeExperiment(name: string, statuses: (string | null)[], grade = 'final'): void {
    const runs = statuses.map((_, index) => ({ id: `run-${index}` }));
    writeJson(`${name}/plan.json`, { runs, grade });
    for (const [index, status] of statuses.entries()) {
      if (status !== null) writeJson(`${name}/runs/run-${index}/run.json`, { status });
      if (status === 'finished') writeJson(`${name}/runs/run-${index}/grades.jsonl`, { final: true });
    }
  }

  test('start-1 at first', () => {
    expect(firstUnfinished(join(folder, 'experiments'))).toBe('start-1');
  });

  test('an interrupted experiment, wherever it was interrupted', () => {
    mkdirSync(join(folder, 'start-1'));
    expect(firstUnfinished(folder)).toBe('start-1');
    for (const status of ['pending', 'running', 'interrupted', null]) {
      writeExperiment('start-1', ['finished', status]);
      expect(firstUnfinished(folder)).toBe('start-1');
    }
  });

  test('a new experiment once every run has ended', () => {
    writeExperiment('start-1', ['finished', 'finished']);
    writeExperiment('start-2', ['finished', 'failed']);
    expect(firstUnfinished(folder)).toBe('start-3');
  });

  test('an experiment that was interrupted while it was graded, unless it wants no grades', () => {
    const grades = join(folder, 'start-1/runs/run-1/grades.jsonl');
    writeExperiment('start-1', ['finished', 'finished']);
    for (const lines of ['', '{"final":false}\n', '{"final":false}\n{"final":tr']) {
      writeFileSync(grades, lines);
      expect(firstUnfinished(folder)).toBe('start-1');
    }
    writeFileSync(grades, '{"final":false}\n{"final":true}\n');
    expect(firstUnfinished(folder)).toBe('start-2');
    rmSync(grades);
    expect(firstUnfinished(folder)).toBe('start-1');
    writeExperiment('start-1', ['finished', 'finished'], 'none');
    expect(firstUnfinished(folder)).toBe('start-2');
  });

  test('an experiment whose records cannot be read, so that mlab says what is wrong with them', () => {
    writeExperiment('start-1', ['finished']);
    writeFileSync(join(folder, 'start-1/runs/run-0/run.json'), '{"status": "fin');
    expect(firstUnfinished(folder)).toBe('start-1');
  });
});

describe('npm start', () => {
  /** With a launcher that prints its arguments. */
  function start(launcher: string, ...flags: string[]) {
    const { bin, scripts } = checkOut();
    writeFileSync(join(bin, 'mlab.mjs'), launcher);
    return spawnSync(process.execPath, [join(scripts, 'start.mjs'), ...flags], {
      encoding: 'utf8',
      env: { PATH: bin },
    });
  }
  const sayArguments = "console.log(process.argv.slice(2).join(' '));";

  test('runs the starter and automl on the starter suite', () => {
    const { status, stdout, stderr } = start(sayArguments);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^run --suite starter --agent baseline,automl --seeds 2 .*--name start-1\n$/);
  });

  test('passes on its arguments, which override its defaults', () => {
    const { stdout } = start(sayArguments, '--seeds', '5', '--name=mine', '--json');
    expect(stdout).not.toContain('--seeds 2');
    expect(stdout).not.toContain('start-1');
    expect(stdout).toMatch(/ --seeds 5 --name=mine --json\n$/);
  });

  test('runs only the given tasks', () => {
    expect(start(sayArguments, '--task', 'digits').stdout).toMatch(/^run --agent .* --task digits\n$/);
  });

  test('ends with the exit code of the run', () => {
    expect(start('process.exitCode = 3;').status).toBe(3);
  });
});
