import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { createContext } from '../context.ts';
import { adviceOnConstants, changesOf, tasksNew, thresholdFor } from './tasks-new.ts';

test('a task in a folder with spaces comes with commands that a shell takes as they are', async () => {
  const said: string[] = [];
  const into = join(temporaryFolder(), 'neue Aufgaben für uns');
  const context = {
    ...createContext({}, { MLAB_CACHE: temporaryFolder() }, '1', new AbortController().signal),
    log: (line: string) => void said.push(line),
  };
  const making = Promise.resolve(tasksNew.run(context, ['rents'], { into, interpreter: '/no/python' }));
  await expect(making).rejects.toThrow('/no/python');
  expect(said.join('\n')).toContain(`tasks baseline '${join(into, 'rents')}' --write`);
});

test('a task that a constant answer solves is called that', () => {
  const figures = { spread: 0, seeds: 3, seconds: 1 };
  const advice = (constantScore: number, mean: number, classes: Map<string, number> | null) =>
    adviceOnConstants({ classes, constantScore }, { baseline: { ...figures, mean }, threshold: 0.1 });
  const rare = new Map([
    ['yes', 5],
    ['no', 495],
  ]);
  const nothing = { rowsLeftOut: 0, target: 'y', leftOut: [], suspects: [] };
  expect(changesOf({ ...nothing, classes: rare })).toContain('Only 5 rows of "yes"');
  expect(advice(0.99, 0.85, rare)).toContain('Always answering "no" scores about 0.99');
  expect(advice(0.99, 0.95, rare)).toBe('');
  expect(advice(2, 2.8, null)).toContain('Always answering the mean scores about 2');
  expect(advice(2, 1.5, null)).toBe('');
});

test('a threshold is between starter and reference, and never below what chance alone reaches', () => {
  expect(thresholdFor(0.5, 0.01)).toBe(0.1);
  expect(thresholdFor(null, 0.01)).toBe(0.1);
  expect(thresholdFor(-0.2, 0.01)).toBe(0.1);
  expect(thresholdFor(0.08, 0.01)).toBe(0.04);
  fc.assert(
    fc.property(
      fc.double({ min: -1, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (gain, noise) => {
        expect(thresholdFor(gain, noise)).toBeGreaterThanOrEqual(noise / 2);
      },
    ),
  );
});

test('a task with the name of another one is refused before anything is written', async () => {
  const context = createContext({}, { MLAB_CACHE: temporaryFolder() }, '1', new AbortController().signal);
  const into = temporaryFolder();
  const making = Promise.resolve(tasksNew.run(context, ['digits'], { into }));
  await expect(making).rejects.toThrow(/The task digits is already in /);
  expect(readdirSync(into)).toEqual([]);
});
