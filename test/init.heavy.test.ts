import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readExperiment } from 'mlagentbench/store';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testInSandbox } from './fixtures/needs-sandbox.ts';
import { PackedPackage } from './fixtures/packed-package.ts';

describe('a project that npx mlagentbench init made', () => {
  let packed: PackedPackage;
  let project: string;

  /** With a Node that runs TypeScript first in PATH. */
  function run(...words: [string, ...string[]]) {
    const [program, ...argv] = words;
    const path = [join(packed.scratch, 'bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
    const result = packed.run(program, argv, { cwd: project, path });
    expect(result.status, `${words.join(' ')}\n${result.stdout}${result.stderr}`).toBe(0);
    return result.stdout;
  }

  beforeAll(() => {
    packed = new PackedPackage();
    mkdirSync(join(packed.scratch, 'bin'));
    symlinkSync(process.execPath, join(packed.scratch, 'bin/node'));
    project = packed.install('elsewhere');
    run('npx', 'mlagentbench', 'init', '../my-bench');
    project = join(packed.scratch, 'my-bench');
    // Instead of the registry's, which may not have this version.
    run('npm', 'pkg', 'set', `devDependencies.mlagentbench=file:${packed.tarball}`);
    run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error');
  });
  afterAll(() => packed[Symbol.dispose]());

  test('has an agent that passes its tests and the type check', () => {
    expect(run('npm', 'test')).toMatch(/pass 4\b[\s\S]*fail 0\b/);
    run('npm', 'run', 'check');
  });

  test('excludes installed and generated files from the repository', () => {
    expect(readdirSync(project)).toContain('.gitignore');
    expect(readdirSync(project)).not.toContain('flats.csv');
  });

  testInSandbox('runs its experiment, in which the agent is graded better than the starter', async () => {
    run('npx', 'mlab', 'run', 'experiment.yaml');
    const { runs } = await readExperiment(join(project, 'experiments/first')).runs();
    const scores = (agent: string) => runs.filter((one) => one.agent === agent).map(({ score }) => score);
    const [starter, own] = [scores('baseline'), scores('tree-depth')];
    expect([starter.length, own.length]).toEqual([2, 2]);
    for (const score of own) expect(score).toBeLessThan(Math.min(...starter.map(Number)));
  });
});
