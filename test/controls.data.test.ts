import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findTasks } from '../src/tasks/index.ts';
import { mlab } from './fixtures/mlab-command.ts';

/** `mlab tasks check` on the files of the tasks' sources, or on what stands in for them in a mirror. */
const root = join(import.meta.dirname, '..');
const mirror = join(dirname(root), 'shared', 'data');
const tasks = findTasks([join(root, 'tasks')]).tasks.filter(({ file }) => file.sources.length > 0);

test.for(tasks.map(({ file }) => file.id))(
  'the controls of %s do what they must on the data of the mirror',
  { timeout: 30 * 60_000 },
  async (task, { skip }) => {
    if (!existsSync(mirror)) skip(`there is no mirror of the original data in ${mirror}`);
    const args = ['tasks', 'check', task, '--mirror', mirror, '--allow-unverified'];
    const { code, stdout, stderr } = await mlab(...args);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
  },
);
