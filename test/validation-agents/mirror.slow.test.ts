import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { cacheFolder } from '../../src/lib/cache-folder.ts';
import { improvement, isSuccess } from '../../src/statistics/index.ts';
import { findTasks, loadPrepared, loadTask, withFigures } from '../../src/tasks/index.ts';
import { mlab } from '../fixtures/mlab-command.ts';

/** `mlab tasks check` on the files of the tasks' sources, or their stand-ins in a mirror. */
const root = join(import.meta.dirname, '../..');
const mirror = join(dirname(root), 'shared', 'data');
const { tasks } = findTasks([join(root, 'tasks')]);
const timeout = 60 * 60_000;

test.for(tasks.filter(({ file }) => file.sources.length > 0).map(({ file }) => file))(
  'all validation agents of $id do what they must on the data of the mirror',
  { timeout },
  async ({ id: task, baseline, reference, metric, success }, { skip }) => {
    if (!existsSync(mirror)) skip(`there is no mirror of the original data in ${mirror}`);
    const gain = improvement(reference.mean, baseline.mean, metric.direction);
    if (!isSuccess(gain, success.threshold)) skip('by its own figures its reference solution is no success');
    const source = ['--mirror', mirror, '--allow-unverified'];
    const lacking = (await missingFiles(task, source)) ?? (await otherFigures(task));
    if (lacking !== null) skip(lacking);
    const args = ['tasks', 'check', task, ...source];
    const { code, stdout, stderr } = await mlab(...args);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
  },
);

/** Why the validation agents can't be judged: the figures for comparison are of other data. */
async function otherFigures(id: string): Promise<string | null> {
  const task = loadTask(id, [join(root, 'tasks')]);
  const cache = cacheFolder(process.env);
  const prepared = await loadPrepared(task, { cache, helpers: join(root, 'python'), allowUnverified: true });
  if (prepared === null || withFigures(task, prepared, { cache }).figures !== 'of other data') return null;
  return `its baseline is of other data: first run mlab tasks baseline ${id} --save`;
}

const Prepared = z.object({
  prepared: z.array(
    z.object({
      manifest: z.object({
        sources: z.array(
          z.object({
            file: z.string(),
            collection: z.object({ files: z.int(), missing: z.int() }).optional(),
          }),
        ),
      }),
    }),
  ),
});

/** Why a collection of files in the mirror is too small for meaningful scores; null if it is not. */
async function missingFiles(task: string, source: string[]): Promise<string | null> {
  const { code, stdout, stderr } = await mlab('prepare', task, '--json', ...source);
  expect(code, stderr).toBe(0);
  for (const { manifest } of Prepared.parse(JSON.parse(stdout)).prepared) {
    for (const { file, collection } of manifest.sources) {
      if (collection === undefined || collection.missing <= collection.files) continue;
      return `the mirror lacks ${collection.missing} of the ${collection.missing + collection.files} files of ${file}`;
    }
  }
  return null;
}
