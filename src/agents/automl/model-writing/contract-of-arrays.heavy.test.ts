import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { taskOf } from '../../../../test/fixtures/table-task.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { cacheFolder } from '../../../lib/cache-folder.ts';
import type { TaskBrief } from '../../../schema/index.ts';
import { ensurePython, loadTask } from '../../../tasks/index.ts';
import { askedTable, contractScript, readContract } from './contract.ts';

const tasks = join(import.meta.dirname, '../../../../tasks');
const { executable: python } = await ensurePython(loadTask('digits', [tasks]).requirements, {
  cache: cacheFolder(process.env),
});

/** The contract for a data folder with these arrays, each an expression in Python, and these ids. */
function contractOf(task: TaskBrief, arrays: Record<string, string>, ids: string[], labels = '') {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data'));
  if (labels !== '') writeFileSync(join(folder, 'data/labels.csv'), labels);
  writeFileSync(join(folder, 'data/test.csv'), `id\n${ids.join('\n')}\n`);
  const saved = Object.entries(arrays).map(([name, value]) =>
    value.startsWith('dict(')
      ? `np.savez("data/${name}.npz", **${value})\n`
      : `np.save("data/${name}.npy", ${value})\n`,
  );
  const file = askedTable(task);
  if (file === null) throw new Error('the task asks for no table');
  const done = spawnSync(python, ['-'], {
    cwd: folder,
    encoding: 'utf8',
    input: `import numpy as np\n${saved.join('')}\n${contractScript(task, file)}`,
  });
  expect(done.stderr).toBe('');
  return readContract(done.stdout);
}

const places = Array.from({ length: 20 }, (_, place) => String(place));
const pictures = {
  edges: 'np.ones((40, 2), int)',
  unseen: 'np.ones((20, 9, 9, 3), np.uint8)',
  seen: 'np.ones((90, 9, 9, 3), np.uint8)',
};
const answers = 'np.arange(90) % 3';

describe('the contract of arrays', () => {
  it('follows from shapes: rows of equal shape to learn from and to predict, and as many labels', () => {
    const task = taskOf('accuracy', [{ name: 'kind', type: 'integer', min: 0, max: 2 }]);
    expect(contractOf(task, { ...pictures, answers }, places)).toMatchObject({
      kind: 'arrays',
      plan: expect.stringContaining('from 90 rows of data/seen.npy (each 9 x 9 x 3)'),
      settings: {
        TRAIN_ARRAY: ['data/seen.npy', ''],
        TEST_ARRAY: ['data/unseen.npy', ''],
        LABELS: ['data/answers.npy', ''],
        BY_PLACE: true,
        TARGETS: ['kind'],
        CLASSIFIES: true,
      },
    });
  });

  it('may require one probability for each class', () => {
    const task = taskOf('accuracy', [{ name: '0' }, { name: '1' }, { name: '2' }]);
    expect(contractOf(task, { ...pictures, answers }, places)).toMatchObject({
      settings: { CLASS_COLUMNS: ['0', '1', '2'].map((each) => [each, each]) },
    });
  });

  it('uses the order of rows if the ids are no row numbers, and numbers as labels', () => {
    const flat = { x: 'np.ones((90, 5))', z: 'np.ones((20, 5))', y: 'np.ones(90)' };
    const ids = places.map((place) => `row ${place}`);
    expect(contractOf(taskOf('MAE', [{}]), flat, ids)).toMatchObject({
      settings: { BY_PLACE: false, LABELS: ['data/y.npy', ''], CLASSIFIES: false },
    });
  });

  it('finds labels by the name of the target and by its values, and takes nothing for them that is known of the rows to predict', () => {
    const task = taskOf('macro F1', [{ name: 'behaviour', type: 'text', values: ['lie', 'walk'] }]);
    const archives = {
      known:
        'dict(acc=np.ones((90, 3, 50)), cow=np.arange(90) % 7, behaviour=np.array(["lie", "walk"])[np.arange(90) % 2])',
      others: 'dict(acc=np.ones((20, 3, 50)), cow=np.arange(20) % 3)',
    };
    expect(contractOf(task, archives, places)).toMatchObject({
      settings: { TRAIN_ARRAY: ['data/known.npz', 'acc'], LABELS: ['data/known.npz', 'behaviour'] },
    });
  });

  it('finds labels in a table, whatever the submission calls them', () => {
    const { unseen, seen } = pictures;
    const labels = `id,finding\n${Array.from({ length: 90 }, (_, row) => `${row},${row % 3}\n`).join('')}`;
    const task = taskOf('accuracy', [{ name: 'label', type: 'integer', min: 0, max: 2 }]);
    expect(contractOf(task, { unseen, seen }, places, labels)).toMatchObject({
      settings: { TRAIN: ['data/labels.csv'], TARGETS: ['finding'], COLUMNS: ['label'] },
    });
  });

  it('is refused if no labels fit, or if rows differ in shape', () => {
    const task = taskOf('accuracy', [{ type: 'integer' }]);
    expect(contractOf(task, pictures, places)).toHaveProperty('problem');
    const other = { ...pictures, answers, unseen: 'np.ones((20, 8, 8, 3), np.uint8)' };
    expect(contractOf(task, other, places)).toHaveProperty('problem');
  });
});
