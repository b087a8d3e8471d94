import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { createContext } from '../context.ts';
import { adviceOnConstants, changesOf, tasksNew } from './tasks-new.ts';

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
