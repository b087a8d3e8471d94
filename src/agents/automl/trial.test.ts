import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { FakeEnvironment } from '../../../test/fakes/fake-environment.ts';
import { withoutAlarm } from '../../../test/fakes/without-alarm.ts';
import { stoppingItself } from '../search/own-stop.ts';
import { measuredAs, Trials } from './trial.ts';

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

  it('counts as stopped at its time limit if it takes that long', async () => {
    const environment = new FakeEnvironment({
      files: { 'train.py': 'first' },
      execute: (source) => ({
        output: 'MAE: 3',
        exitCode: withoutAlarm(source) === 'slow' ? null : 0,
        seconds: withoutAlarm(source) === 'slow' ? 5 : 1,
      }),
    });
    const trials = new Trials(environment);
    await trials.runStarter('first');
    expect(await trials.run('slow', 5)).toMatchObject({ kind: 'failed', timedOut: true });
    expect(await trials.run('slow', 9)).toMatchObject({ kind: 'failed', timedOut: false });
    expect(await trials.run('quick', 5)).toMatchObject({ kind: 'measured', score: 3 });
  });

  it('has a branch with its script and its submission, whatever is run after it', async () => {
    const environment = new FakeEnvironment({
      files: { 'train.py': 'first' },
      execute: (source) => ({
        ...{ output: 'MAE: 3', exitCode: 0, seconds: 1 },
        writes: { 'submission.csv': withoutAlarm(source) },
      }),
    });
    const trials = new Trials(environment);
    const { starter } = await trials.runStarter('first');
    expect(environment.selected.id).toBe('b1');
    const version = trials.begin('tune', starter, 'a change');
    const ran = await trials.run('second', 9);
    version.view = await trials.fork();
    version.measured = measuredAs(ran, 'second');
    await trials.run('third', 9);
    expect(environment.selected.files.get('submission.csv')).toBe('first');
    trials.finish(version, true, 'better');
    expect(environment.selected.files.get('submission.csv')).toBe('second');
    await trials.answer([]);
    expect(withoutAlarm(environment.selected.files.get('train.py') ?? '')).toBe('second');
    expect(environment.executed.map(withoutAlarm)).toEqual(['first', 'second', 'third']);
    expect(environment.finalAnswer).toContain('Handed in is version 1 (tune)');
  });
});
