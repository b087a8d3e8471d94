import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { taskOf } from '../../../../test/fixtures/table-task.ts';
import { modelScript, readContract } from './contract.ts';
import { contractOf, homes, problemOf, reviews, settingsOf } from './test-support.ts';

describe('the contract of a missing model', () => {
  it('has as targets the columns that the rows to predict lack', () => {
    const contract = contractOf(taskOf('Mean absolute error', [{ min: 0, max: 1000 }]), homes);
    expect(contract.settings).toEqual({
      TRAIN: ['data/train.csv'],
      TEST: 'data/test.csv',
      SUBMISSION: 'submission.csv',
      ID: 'id',
      TARGETS: ['y'],
      COLUMNS: ['y'],
      CLASS_COLUMNS: [],
      CLASSIFIES: false,
      MANY_CLASSES: false,
      WRITES_PROBABILITY: false,
      VALUES: [],
      POSITIVE: [],
      ROUNDS_TO_WHOLE: [],
      BOUNDS: [[0, 1000]],
      METRIC: 'mae',
      METRIC_NAME: 'Mean absolute error',
      UNIT: 1,
    });
    expect(contract.plan).toBe(
      'Learn y (numbers) from 3 rows of data/train.csv (columns: 1 of names, 1 of numbers), for id of data/test.csv; ' +
        'choose by mae.',
    );
  });

  it('knows what the task says a probability is of', () => {
    const problem = 'Predict the probability that a home\nis sold (from 0 to 1). Chance is 0.5.';
    const { POSITIVE } = settingsOf({ ...taskOf('ROC AUC', [{}]), problem }, homes);
    expect(POSITIVE).toEqual(['a home is sold']);
  });

  it('takes the only column that the rows to predict lack for the target, whatever the submission calls it', () => {
    const contract = contractOf(taskOf('MAE', [{ name: 'forecast' }]), homes);
    expect(modelScript(contract, 60)).toContain('TARGETS = ["y"]');
    expect(modelScript(contract, 60)).toContain('COLUMNS = ["forecast"]');
  });

  it('takes several columns that the rows to predict lack, by the words of their names', () => {
    const visits = {
      'train.csv': 'id,age,parts_eur,minutes\n1,10,3.5,20\n2,20,4.5,30\n3,15,1.5,40\n',
      'test.csv': 'id,age\n4,11\n5,12\n',
    };
    const task = taskOf('MAE', [{ name: 'minutes_expected' }, { name: 'parts' }]);
    expect(settingsOf(task, visits)).toMatchObject({
      TARGETS: ['minutes', 'parts_eur'],
      COLUMNS: ['minutes_expected', 'parts'],
    });
    const other = taskOf('MAE', [{ name: 'minutes_expected' }, { name: 'cost' }]);
    expect(problemOf(other, visits)).toContain('nothing in the data folder has the asked columns');
  });

  it('finds the rows to predict if the table of the submission lists only their ids', () => {
    const apart = { ...homes, 'test.csv': 'id\n4\n5\n', 'to_score.csv': 'id,size,town\n5,15,A\n4,25,B\n' };
    expect(settingsOf(taskOf('MAE', [{}]), apart)).toMatchObject({
      TEST: 'data/to_score.csv',
      TRAIN: ['data/train.csv'],
      TARGETS: ['y'],
    });
  });

  it('reads tables with other separators, compressed ones, JSON and FASTA', () => {
    const lines = homes['train.csv']
      .trim()
      .split('\n')
      .map((line) => line.split(','));
    const [names = [], ...rows] = lines;
    const objects = rows.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at]])));
    const tables = {
      'train.tsv': lines.map((cells) => cells.join('\t')).join('\n'),
      'train.csv.gz': gzipSync(homes['train.csv']),
      'train.csv': homes['train.csv'].replaceAll(',', ';'),
      'train.jsonl': objects.map((row) => JSON.stringify(row)).join('\n'),
      'train.json': JSON.stringify(objects),
      'train.fasta': objects
        .map(
          ({ id, y, ...more }) =>
            `>${id} y=${y} ${Object.entries(more)
              .map((pair) => pair.join('='))
              .join('; ')}\nACGT\nTTA`,
        )
        .join('\n'),
    };
    for (const [name, content] of Object.entries(tables)) {
      const contract = contractOf(taskOf('MAE', [{}]), { 'test.csv': homes['test.csv'], [name]: content });
      expect(contract.plan).toContain(`Learn y (numbers) from 3 rows of data/${name} `);
    }
  });

  it('knows the ids of FASTA records, whatever the task calls them', () => {
    const peptides = {
      'known.fasta': '>P1 y=1.5 lab=A\nACGT\n>P2 y=2.5 lab=B\nAAGT\n>P3 y=0.5 lab=A\nTCGT\n',
      'unknown.fasta': '>P4 lab=A\nACGA\n>P5 lab=A\nACCA\n',
      'test.csv': 'peptide\nP4\nP5\n',
    };
    expect(settingsOf(taskOf('MAE', [{}], 'peptide'), peptides)).toMatchObject({
      ...{ TRAIN: ['data/known.fasta'], TEST: 'data/unknown.fasta', ID: 'peptide', TARGETS: ['y'] },
    });
  });

  it('reads notations of molecules without a header', () => {
    const molecules = {
      'known.smi': 'CCO\tM1\t0.5\nCCN\tM2\t1.5\nCCC\tM3\t2.5\n',
      'others.smi': 'CCF M4\nCCCl M5\n',
      'test.csv': 'name\nM4\nM5\n',
    };
    expect(settingsOf(taskOf('MAE', [{ name: 'flow' }], 'name'), molecules)).toMatchObject({
      ...{
        TRAIN: ['data/known.smi'],
        TEST: 'data/others.smi',
        ID: 'name',
        TARGETS: ['value'],
        COLUMNS: ['flow'],
      },
    });
  });

  it('takes from the starter which column of several is to be predicted, whatever it is called in the submission', () => {
    const peaks = {
      'train.csv': 'id,size,Retention time,area\n1,10,3.5,7\n2,20,4.5,9\n',
      'test.csv': 'id,size\n4,10\n5,20\n',
    };
    const task = taskOf('MAE', [{ name: 'minutes' }]);
    const starter = "y = [float(row['Retention time']) for row in rows]\n";
    expect(problemOf(task, peaks)).toContain('nothing in the data folder');
    expect(settingsOf(task, { ...peaks, '../train.py': starter })).toMatchObject({
      ...{ TARGETS: ['Retention time'], COLUMNS: ['minutes'] },
    });
    expect(problemOf(task, { ...peaks, '../train.py': `${starter}print(row["area"])\n` })).toContain(
      'nothing',
    );
  });

  it('reads blanks in headers, decimal commas, thousands with commas, and a few odd cells among numbers', () => {
    const task = taskOf('MAE', [{}]);
    const spaced = { ...homes, 'train.csv': homes['train.csv'].replace(',size,town,y', ', size,town , y') };
    expect(contractOf(task, spaced)).toEqual(contractOf(task, homes));
    const train = (separator: string, y: (row: number) => string) =>
      Array.from({ length: 40 }, (_, row) => [row, row % 7, 'A', y(row)].join(separator)).join('\n');
    for (const rows of [
      train(';', (row) => `${row},5`),
      train(',', (row) => `"${row + 1},000.5"`),
      train(',', (row) => (row === 7 ? '?' : row === 8 ? 'None' : `${row}.5`)),
    ]) {
      const separator = rows[1];
      const table = `${homes['train.csv'].split('\n')[0]?.replaceAll(',', separator ?? '')}\n${rows}\n`;
      expect(contractOf(task, { ...homes, 'train.csv': table }).plan).toContain('Learn y (numbers)');
    }
  });

  it('overlooks no table among many smaller ones, or in front of a folder of them', () => {
    const small = (folder: string) =>
      Object.fromEntries(
        Array.from({ length: 20 }, (_, place) => [`${folder}${place}.csv`, 'at,value\n1,2\n']),
      );
    const task = taskOf('MAE', [{}]);
    for (const folder of ['curves/', ''])
      expect(settingsOf(task, { ...homes, ...small(folder) })).toMatchObject({ TRAIN: ['data/train.csv'] });
  });

  it('finds the rows to predict in the table to learn from, by their ids', () => {
    const ids = 'id\n3\n';
    const all = 'id,size,town\n1,10,A\n3,15,\n2,20,B\n';
    const labels = { 'features.csv': all, 'labels.csv': 'id,y\n1,100\n2,200\n', 'test.csv': ids };
    expect(contractOf(taskOf('MAE', [{}]), labels)).toMatchObject({
      plan: expect.stringContaining('from 2 rows of data/features.csv'),
      settings: {
        ...{ TRAIN: ['data/features.csv'], ANSWERS: 'data/labels.csv', TEST: 'data/features.csv' },
        ...{ TEST_IDS: 'data/test.csv', TARGETS: ['y'] },
      },
    });
    const one = { 'all.csv': 'id,size,y\n1,10,100\n3,15,\n2,20,200\n', 'test.csv': ids };
    const settings = { TRAIN: ['data/all.csv'], TEST: 'data/all.csv', TEST_IDS: 'data/test.csv' };
    expect(settingsOf(taskOf('MAE', [{}]), one)).toMatchObject(settings);
  });

  it('does not use what the rows to predict say of the targets: placeholders, or nothing', () => {
    const task = taskOf('MAE', [{}]);
    const told = { ...homes, 'test.csv': 'id,y,size,town\n4,0,10,A\n5,0,20,B\n' };
    expect(contractOf(task, told)).toEqual(contractOf(task, homes));
    const empty = { ...homes, 'test.csv': 'y,id,size,town\n,4,10,A\n,5,20,B\n' };
    expect(contractOf(task, empty)).toEqual(contractOf(task, homes));
    const apart = { ...told, 'test.csv': 'id,y\n4,0\n5,0\n', 'to_score.csv': told['test.csv'] };
    expect(settingsOf(task, apart)).toMatchObject({ TEST: 'data/to_score.csv', TARGETS: ['y'] });
  });

  it.each([
    [
      'no table has the target',
      taskOf('MAE', [{ name: 'z' }]),
      { ...homes, 'test.csv': 'id,size\n4,10\n' },
      'nothing in the data folder',
    ],
    ['the ids are nowhere', taskOf('MAE', [{}], 'key'), homes, 'does not list the ids'],
    ['there is no table at all', taskOf('MAE', [{}]), {}, 'does not list the ids'],
    [
      'a class may not be written',
      taskOf('accuracy', [{ name: 'town', type: 'text', values: ['A'] }]),
      { ...homes, 'test.csv': 'id,size\n4,10\n' },
      'which the submission may not have',
    ],
    [
      'what should be numbers is words',
      taskOf('MAE', [{ name: 'town' }]),
      { ...homes, 'test.csv': 'id,size\n4,10\n' },
      'should be a number',
    ],
  ])('is refused where %s', (_, task, tables, problem) => {
    expect(problemOf(task, tables)).toContain(problem);
  });

  it.each(['', 'CONTRACT', 'CONTRACT {', 'CONTRACT {"plan": "none"}', 'CONTRACT []'])(
    'is refused if the script printed %j',
    (printed) => {
      expect(readContract(printed)).toHaveProperty('problem');
    },
  );

  it('is refused if a package is missing', () => {
    expect(problemOf(taskOf('MAE', [{}]), homes, [])).toBe('numpy cannot be imported');
    const task = taskOf('accuracy', [{ name: '0' }, { name: '1' }]);
    expect(problemOf(task, reviews, ['numpy'])).toContain('scikit-learn cannot be imported');
  });
});

it('prints percent if the task does, and joins tables that share columns', () => {
  const shops = { 'shops.csv': 'town,floor\nA,3\nB,4\n' };
  const task = taskOf('SMAPE in percent', [{}]);
  const percent = { ...task, metric: { ...task.metric, name: 'SMAPE', unit: 'percent' } };
  const script = modelScript(contractOf(percent, { ...homes, ...shops }), 60);
  expect(script).toContain('UNIT = 100\n');
  expect(script).toContain('JOINED: list[list[str]] = [["data/shops.csv"]]');
  expect(script).toContain(', join_tables))');
});
