import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

test('a Node is new enough when it runs TypeScript without a flag', () => {
  expect(['22.18.0', '22.21.3', '23.6.0', '24.0.0', '26.1.0'].filter(isNewEnough)).toHaveLength(5);
  expect(['18.20.4', '20.19.5', '21.7.3', '22.17.1', '23.5.0'].filter(isNewEnough)).toEqual([]);
});

describe('npm packages are installed anew', () => {
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

  test('never while they are what the lock file asks for, whoever installed them', () => {
    expect(areCurrent(wanted, installed)).toBe(true);
  });

  test('after an optional package of this platform came too: still not', () => {
    expect(
      areCurrent(wanted, { ...installed, 'node_modules/a-windows': wanted['node_modules/a-windows'] }),
    ).toBe(true);
  });

  test('in a fresh clone, and after an installation that was broken off', () => {
    expect(areCurrent(wanted, null)).toBe(false);
    mkdirSync(join(folder, 'node_modules/a'), { recursive: true });
    expect(areCurrent(wanted, null)).toBe(false);
  });

  test('when the lock file names another version, another content, one more or one less', () => {
    const other = (entry: object) => ({ ...wanted, 'node_modules/a': entry });
    expect(areCurrent(other({ version: '1.0.1', integrity: 'sha512-a' }), installed)).toBe(false);
    expect(areCurrent(other({ version: '1.0.0', integrity: 'sha512-b' }), installed)).toBe(false);
    expect(areCurrent({ ...wanted, 'node_modules/b': { version: '1.0.0' } }, installed)).toBe(false);
    expect(areCurrent({ '': wanted[''] }, installed)).toBe(false);
  });
});

describe('npm start works on', () => {
  function writeExperiment(name: string, statuses: (string | null)[]): void {
    const runs = statuses.map((_, index) => ({ id: `run-${index}` }));
    writeJson(`${name}/plan.json`, { runs });
    for (const [index, status] of statuses.entries()) {
      if (status !== null) writeJson(`${name}/runs/run-${index}/run.json`, { status });
    }
  }

  test('start-1 at first', () => {
    expect(firstUnfinished(join(folder, 'experiments'))).toBe('start-1');
  });

  test('an experiment that was interrupted, wherever that happened', () => {
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

  test('an experiment whose records cannot be read, so that mlab says what is wrong with them', () => {
    writeExperiment('start-1', ['finished']);
    writeFileSync(join(folder, 'start-1/runs/run-0/run.json'), '{"status": "fin');
    expect(firstUnfinished(folder)).toBe('start-1');
  });
});

describe('npm start', () => {
  /** A checkout that is set up already, with a launcher that says what it was told. */
  function start(launcher: string, ...flags: string[]) {
    cpSync(join(import.meta.dirname, '../scripts'), join(folder, 'scripts'), { recursive: true });
    for (const list of ['package-lock.json', 'node_modules/.package-lock.json'])
      writeJson(list, { packages: {} });
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/mlab.mjs'), launcher);
    for (const name of ['bwrap', 'docker', 'python3']) {
      writeFileSync(join(folder, 'bin', name), '#!/bin/sh\n', { mode: 0o755 });
    }
    return spawnSync(process.execPath, [join(folder, 'scripts/start.mjs'), ...flags], {
      encoding: 'utf8',
      env: { PATH: join(folder, 'bin') },
    });
  }
  const sayArguments = "console.log(process.argv.slice(2).join(' '));";

  test('runs the starter and automl on the starter suite', () => {
    const { status, stdout, stderr } = start(sayArguments);
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^run --suite starter --agent baseline,automl --seeds 2 .*--name start-1\n$/);
  });

  test('passes on what it is given, which wins over what it would say itself', () => {
    const { stdout } = start(sayArguments, '--seeds', '5', '--name=mine', '--json');
    expect(stdout).not.toContain('--seeds 2');
    expect(stdout).not.toContain('start-1');
    expect(stdout).toMatch(/ --seeds 5 --name=mine --json\n$/);
  });

  test('ends with the exit code of the run', () => {
    expect(start('process.exitCode = 3;').status).toBe(3);
  });
});
