import { describe, expect, it } from 'vitest';
import { taskOf } from '../../../../test/fixtures/table-task.ts';
import { inferContract } from './contract.ts';

/** The output of `look.py`, with arrays and folders, and a table of ids. */
function summaryWith(changes: Record<string, unknown>): string {
  const test = {
    ...{ path: 'data/test.csv', rows: 20, has_id: true, highest_id: 19, shared: 0, more: [], files: [] },
    kinds: { text: 0, letters: 0, number: 0, name: 0 },
  };
  const looked = {
    packages: ['numpy', 'scipy', 'sklearn'],
    given: [],
    tables: [test],
    arrays: [],
    folders: [],
  };
  return `TABLES ${JSON.stringify({ ...looked, ...changes, tables: [{ ...test, ...(changes.test ?? {}) }] })}`;
}

const array = (path: string, shape: number[], values: string[] = [], kind = 'f') => ({
  ...{ path, key: '', shape, kind, values },
});
const arrays = [
  array('data/edges.npy', [40, 2], [], 'i'),
  array('data/unseen.npy', [20, 9, 9, 3], [], 'u'),
  array('data/seen.npy', [90, 9, 9, 3], [], 'u'),
  array('data/answers.npy', [90], ['0', '1', '2'], 'i'),
];

describe('the contract of arrays', () => {
  it('follows from shapes: rows of equal shape to learn from and to predict, and as many labels', () => {
    const task = taskOf('accuracy', [{ name: 'kind', type: 'integer', min: 0, max: 2 }]);
    expect(inferContract(task, summaryWith({ arrays }))).toMatchObject({
      source: {
        kind: 'arrays',
        train: ['data/seen.npy', ''],
        test: ['data/unseen.npy', ''],
        labels: ['data/answers.npy', ''],
        byPlace: true,
        arePictures: true,
      },
      targets: ['kind'],
      classifies: true,
      rows: 90,
    });
  });

  it('may require one probability for each class', () => {
    const task = taskOf('accuracy', [{ name: '0' }, { name: '1' }, { name: '2' }]);
    expect(inferContract(task, summaryWith({ arrays }))).toMatchObject({
      classColumns: ['0', '1', '2'].map((each) => [each, each]),
    });
  });

  it('uses the order of rows if the ids are no row numbers, and numbers as labels', () => {
    const flat = [array('data/x.npy', [90, 5]), array('data/z.npy', [20, 5]), array('data/y.npy', [90])];
    const printed = summaryWith({ arrays: flat, test: { highest_id: null } });
    expect(inferContract(taskOf('MAE', [{}]), printed)).toMatchObject({
      source: { byPlace: false, arePictures: false, labels: ['data/y.npy', ''] },
      classifies: false,
    });
  });

  it('is refused if no labels fit, or if rows differ in shape', () => {
    const problem = (changed: typeof arrays) =>
      inferContract(taskOf('accuracy', [{ type: 'integer' }]), summaryWith({ arrays: changed }));
    expect(problem(arrays.slice(0, 3))).toHaveProperty('problem');
    expect(problem([...arrays.slice(2), array('data/unseen.npy', [20, 8, 8, 3], [], 'u')])).toHaveProperty(
      'problem',
    );
  });
});

describe('the contract of files', () => {
  const files = [{ column: 'name', folder: 'data/asked', suffix: '.txt', ending: '.txt' }];

  it('treats folders of files as classes', () => {
    const folders = [{ path: 'data/known', ending: '.txt', classes: ['b', 'a'], files: 60 }];
    const task = taskOf('accuracy', [{ name: 'topic', type: 'text' }]);
    expect(inferContract(task, summaryWith({ folders, test: { files } }))).toMatchObject({
      source: { kind: 'files', table: '', trainFolder: 'data/known', suffix: '.txt', arePictures: false },
      rows: 60,
      classes: 2,
      classifies: true,
    });
  });

  it('needs a package that reads pictures', () => {
    const [first] = files;
    const pictures = [{ ...first, suffix: '', ending: '.png' }];
    const folders = [{ path: 'data/known', ending: '.png', classes: ['b', 'a'], files: 60 }];
    const task = taskOf('accuracy', [{ name: 'topic', type: 'text' }]);
    const printed = summaryWith({ folders, test: { files: pictures } });
    expect(inferContract(task, printed)).toEqual({ problem: 'PIL cannot be imported' });
  });
});
