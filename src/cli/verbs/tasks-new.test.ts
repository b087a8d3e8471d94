import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { createContext } from '../context.ts';
import { tasksNew } from './tasks-new.ts';

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
