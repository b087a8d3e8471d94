import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { FakeEnvironment } from '../../../test/fakes/fake-environment.ts';
import { withoutAlarm } from '../../../test/fakes/without-alarm.ts';
import { Workspace } from '../common/workspace.ts';
import { stoppingItself } from '../search/own-stop.ts';
import { TrialRunner } from './trial.ts';

describe('a try', () => {
  it('ends itself when its time is up, even if it hangs', () => {
    const hanging = 'print("begun", flush=True)\nwhile True:\n    pass\n';
    const done = spawnSync('python3', ['-c', stoppingItself(hanging, 1)], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(done.stdout).toBe('begun\n');
    expect(done.signal).toBe('SIGALRM');
  });

  it.each([
    'print(6 * 7)\n',
    'from __future__ import annotations\nprint(6 * 7)\n',
    '#!/usr/bin/env python3\n\n"""6 \\""" 7\n"""\n\nfrom __future__ import (\n    annotations,\n)\nprint(eval(__doc__[0] + "*7"))\n',
    "'6'  # Six.\r\nfrom __future__ import annotations, generators\nprint(eval(__doc__) * 7)\n",
    '"""6""".strip()\nprint(42)\n"""7"""\n',
  ])('runs as without a limit if the limit is not reached: %j', (source) => {
    expect(stoppingItself(source, 30)).toContain('.alarm(30)');
    const done = spawnSync('python3', ['-c', stoppingItself(source, 30)], { encoding: 'utf8' });
    expect(done.stdout).toBe('42\n');
    expect(withoutAlarm(stoppingItself(source, 30))).toBe(source);
  });

  it('counts as stopped at its time limit, and its script does not count as the current one', async () => {
    const environment = new FakeEnvironment({
      files: { 'train.py': 'first' },
      execute: (source) => ({
        output: 'MAE: 3',
        exitCode: withoutAlarm(source) === 'slow' ? null : 0,
        seconds: withoutAlarm(source) === 'slow' ? 5 : 1,
      }),
    });
    const runner = new TrialRunner(new Workspace(environment), 'first');
    expect(await runner.run('slow', 5)).toMatchObject({ kind: 'failed', timedOut: true });
    expect(await runner.run('slow', 9)).toMatchObject({ kind: 'failed', timedOut: false });
    expect(await runner.run('quick', 5)).toMatchObject({ kind: 'measured', score: 3 });
    expect(runner.isInPlace('quick')).toBe(false);
    await runner.run('quick');
    expect(runner.isInPlace('quick')).toBe(true);
  });

  it('stays in the workspace as it ran if it is given another text for later runs', async () => {
    const environment = new FakeEnvironment({
      files: { 'train.py': 'first' },
      execute: () => ({ output: 'MAE: 3', exitCode: 0, seconds: 1 }),
    });
    const runner = new TrialRunner(new Workspace(environment), 'first');
    await runner.run('five folds', 5);
    const ran = environment.files.get('train.py');
    runner.rename('five folds of the best model');
    expect(runner.isInPlace('five folds')).toBe(false);
    expect(runner.isInPlace('five folds of the best model')).toBe(true);
    expect(environment.files.get('train.py')).toBe(ran);
    await runner.run('five folds of the best model');
    expect(environment.files.get('train.py')).toBe('five folds of the best model');
  });

  it('can be restored with its submission and without another run, as can one other', async () => {
    const environment = new FakeEnvironment({
      files: { 'train.py': 'first' },
      execute: (source) => ({
        ...{ output: 'MAE: 3', exitCode: 0, seconds: 1 },
        writes: { 'submission.csv': withoutAlarm(source) },
      }),
    });
    const runner = new TrialRunner(new Workspace(environment), 'first');
    for (const source of ['first', 'second', 'third']) {
      await runner.run(source, 9);
      await runner.keep(source, 'first');
    }
    await runner.run('fourth');
    expect(['first', 'second', 'third', 'fourth'].map((source) => runner.keeps(source))).toEqual([
      ...[true, false, true, false],
    ]);
    expect(await runner.putBack('second')).toBeNull();
    expect(await runner.putBack('first')).toMatchObject({ score: 3 });
    expect(runner.isInPlace('first')).toBe(true);
    expect(environment.files.get('train.py')).toBe('first');
    expect(environment.files.get('submission.csv')).toBe('first');
    expect(environment.executed).toHaveLength(4);
  });
});
