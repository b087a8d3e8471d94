import { join } from 'node:path';
import { expect, test } from 'vitest';
import { helpersFolder } from '../../test/fixtures/fixture-task.ts';
import { makeTask } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { loadTask } from '../tasks/index.ts';
import { provision } from './provision.ts';

test('missing data is reported before an environment is made', async () => {
  const folder = temporaryFolder();
  const tasks = join(folder, 'tasks');
  const source = {
    file: 'rows.csv',
    url: 'https://example.org/rows.csv',
    licence: 'free',
    sha256: '0'.repeat(64),
  };
  makeTask(tasks, 'colours', { fields: { sources: [source] } });
  const folders = { cache: join(folder, 'cache'), helpers: helpersFolder, package: folder };
  const provisioning = provision(loadTask('colours', [tasks]), {
    ...{ sample: false, mirror: folder, interpreter: '/nowhere/python', allowUnverified: false },
    folders: { ...folders, experiments: folder, tasks: [tasks] },
    ...{ onProgress: () => {}, signal: new AbortController().signal },
  });
  await expect(provisioning).rejects.toMatchObject({ code: 'not_in_mirror' });
});
