import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { createExperiment } from '../store/index.ts';
import { createContext } from './context.ts';
import { expandNames } from './locate.ts';

function contextWith(experiments: Record<string, string[]>) {
  const dir = temporaryFolder();
  for (const [name, runs] of Object.entries(experiments))
    createExperiment(join(dir, name), { ...examplePlan(runs), name: name as never });
  return createContext({ dir }, {}, '1', new AbortController().signal);
}

test('a pattern stands for the experiments that match it, and with a slash for runs', () => {
  const context = contextWith({
    'start-1': ['digits-a', 'sums-a'],
    'start-2': ['digits-b'],
    other: ['digits-c'],
  });
  expect(expandNames(context, ['start-*'])).toEqual(['start-1', 'start-2']);
  expect(expandNames(context, ['start-*/digits-*'])).toEqual(['start-1/digits-a', 'start-2/digits-b']);
  expect(expandNames(context, ['{other,start-2}/*'])).toEqual(['other/digits-c', 'start-2/digits-b']);
});

test('what is named twice counts once, and names without a pattern stay as they are', () => {
  const context = contextWith({ one: ['a'] });
  expect(expandNames(context, ['one', 'o*', 'none/x', 'one'])).toEqual(['one', 'none/x']);
});

test('a pattern that matches nothing says so', () => {
  const context = contextWith({ one: ['a'] });
  expect(() => expandNames(context, ['two*'])).toThrow(/No experiment in .* matches two\*/);
  expect(() => expandNames(context, ['one/b*'])).toThrow(/No run in .* matches one/);
});
