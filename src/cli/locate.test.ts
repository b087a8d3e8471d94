import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { createExperiment } from '../store/index.ts';
import { createContext } from './context.ts';
import { locateExperiments, locateRun, locateRuns } from './locate.ts';

function contextWith(experiments: Record<string, string[]>) {
  const dir = temporaryFolder();
  for (const [name, runs] of Object.entries(experiments))
    createExperiment(join(dir, name), { ...examplePlan(runs), name: name as never });
  return createContext({ dir }, {}, '1', new AbortController().signal);
}

const three = { 'start-1': ['digits-a', 'sums-a'], 'start-2': ['digits-b'], other: ['digits-c'] };

function runsOf(context: ReturnType<typeof contextWith>, ...given: string[]): string[] {
  return locateRuns(context, given, { withSteps: true }).map(
    ({ experiment, folder, step }) =>
      `${experiment.plan.name}/${folder.id}${step === null ? '' : `@${step}`}`,
  );
}

test('a target is an experiment, a run, its id, a folder or a pattern of names', () => {
  const context = contextWith(three);
  const { experiments } = context.folders;
  expect(runsOf(context, 'start-1')).toEqual(['start-1/digits-a', 'start-1/sums-a']);
  expect(runsOf(context, join(experiments, 'start-1/'))).toEqual(['start-1/digits-a', 'start-1/sums-a']);
  expect(runsOf(context, 'start-1/sums-a')).toEqual(['start-1/sums-a']);
  expect(runsOf(context, 'digits-b')).toEqual(['start-2/digits-b']);
  expect(runsOf(context, 'start-*')).toEqual(['start-1/digits-a', 'start-1/sums-a', 'start-2/digits-b']);
  expect(runsOf(context, 'start-*/digits-*')).toEqual(['start-1/digits-a', 'start-2/digits-b']);
  expect(runsOf(context, '{other,start-2}/*')).toEqual(['other/digits-c', 'start-2/digits-b']);
  expect(runsOf(context, join(experiments, 'start-*/digits-*'))).toEqual([
    'start-1/digits-a',
    'start-2/digits-b',
  ]);
});

test('several targets form one list that contains each run once', () => {
  const context = contextWith(three);
  expect(runsOf(context, 'start-2', 'other', 'digits-b')).toEqual(['start-2/digits-b', 'other/digits-c']);
});

test('RUN@STEP is a step, for commands that support steps', () => {
  const context = contextWith(three);
  expect(runsOf(context, 'start-1/sums-a@4', 'digits-b@last')).toEqual([
    'start-1/sums-a@4',
    'start-2/digits-b@last',
  ]);
  expect(() => locateRuns(context, ['start-1/sums-a@4'])).toThrow(/is a step; this command takes whole runs/);
});

test('a command about one run accepts any target that matches exactly one', () => {
  const context = contextWith(three);
  for (const given of ['other', 'oth*', 'other/d*', 'other/digits-c', 'digits-c'])
    expect(locateRun(context, given).folder.id).toBe('digits-c');
  expect(() => locateRun(context, 'start-1')).toThrow(/"start-1" matches 2 runs/);
});

test('all commands report a missing target in the same way: what, where, and the most similar name', () => {
  const context = contextWith(three);
  const hintOf = (given: string) => {
    try {
      locateRuns(context, [given]);
    } catch (error) {
      const { message, hint } = error as { message: string; hint: string };
      expect(message).toContain(`"${given}"`);
      expect(message).toContain(`experiment or run`);
      expect(message).toContain(context.folders.experiments);
      return hint;
    }
    return null;
  };
  expect(hintOf('strt-1')).toBe('Did you mean "start-1"?');
  expect(hintOf('start-1/sms-a')).toBe('Did you mean "start-1/sums-a"?');
  expect(hintOf('strt-1/sums-a')).toBe('Did you mean "start-1/sums-a"?');
  expect(hintOf('sumz-a')).toBe('Did you mean "start-1/sums-a"?');
  for (const given of ['zzzzzzzz', 'zzz*', 'start-1/zzz*'])
    expect(hintOf(given)).toMatch(/^The experiments there are other, start-1, start-2; mlab runs ls --dir/);
  expect(() => locateExperiments(context, ['zzz*'])).toThrow(/No experiment in .* matches "zzz\*"/);
});

test('a run id that several experiments have must be qualified by an experiment', () => {
  const context = contextWith({ one: ['a'], two: ['a'] });
  expect(() => locateRun(context, 'a')).toThrow(/Several experiments have a run "a"/);
});
