import { describe, expect, it } from 'vitest';
import { taskOf } from '../../../../test/fixtures/table-task.ts';
import { contractOf, pictures, problemOf } from './test-support.ts';

describe('the contract of files', () => {
  const topic = taskOf('accuracy', [{ name: 'topic', type: 'text' }]);

  it('treats folders of files as classes', () => {
    const texts = {
      'test.csv': 'id,name\n1,x\n',
      ...Object.fromEntries(
        ['known/a/k', 'known/a/l', 'known/b/m', 'asked/x'].map((name) => [`${name}.txt`, 'go']),
      ),
    };
    expect(contractOf(topic, texts)).toMatchObject({
      kind: 'files',
      plan: expect.stringContaining('from 3 rows of data/known'),
      settings: {
        TRAIN: ['data/known'],
        TRAIN_FILES: ['file', '.', ''],
        TEST_FILES: ['name', 'data/asked', '.txt'],
        CLASSIFIES: true,
      },
    });
  });

  it('has models of pictures see the columns of numbers beside them', () => {
    const names = ['k', 'l', 'm', 'n', 'x', 'y'];
    const row = (name: string, place: number) => `${name}.png,${place + 0.5},${place * 2.5},${7 - place}.25`;
    const beside = {
      'known.csv': `file,a,b,c,topic\n${names
        .slice(0, 4)
        .map((name, place) => `${row(name, place)},${place % 2 ? 'p' : 'q'}`)
        .join('\n')}\n`,
      'test.csv': `id,file,a,b,c\n${names
        .slice(4)
        .map((name, place) => `${place},${row(name, place)}`)
        .join('\n')}\n`,
      ...Object.fromEntries(names.map((name) => [`seen/${name}.png`, ''])),
    };
    expect(contractOf(topic, beside, ['numpy', 'sklearn', 'PIL'])).toMatchObject({
      ...{ kind: 'files', reads: expect.stringContaining('as_numbers(*read_pictures(') },
      members: expect.arrayContaining(['boosting']),
    });
  });

  it('needs a package that reads pictures', () => {
    expect(problemOf(topic, pictures)).toBe('PIL cannot be imported');
  });
});
