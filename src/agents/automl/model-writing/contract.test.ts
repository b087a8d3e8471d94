import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { taskOf } from '../../../../test/fixtures/table-task.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import type { TaskBrief } from '../../../schema/index.ts';
import { findKnobs } from '../knobs.ts';
import { syntaxErrors } from '../python-source.ts';
import { withSeedsRaised } from '../versions.ts';
import { askedTable, type Contract, inferContract, testPath } from './contract.ts';
import { describeModel, modelScript } from './portfolio.ts';
import { dataSummaryScript } from './python-file.ts';

/** The output of the real `look.py` about a data folder with these tables, in a Python without packages. */
function summaryOf(task: TaskBrief, tables: Record<string, string | Buffer>): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data'));
  for (const [name, text] of Object.entries(tables)) writeFileSync(join(folder, 'data', name), text);
  const file = askedTable(task);
  if (file === null) throw new Error('the task asks for no table');
  const settings = { TEST: testPath(file), ID: file.id.column, WANTED: file.columns.map(({ name }) => name) };
  writeFileSync(join(folder, 'look.py'), dataSummaryScript(settings));
  const done = spawnSync('python3', ['look.py'], { cwd: folder, encoding: 'utf8' });
  expect(done.stderr).toBe('');
  // The installed packages depend on the machine.
  return done.stdout.replace(/"packages": \[[^\]]*\]/, '"packages": ["numpy", "scipy", "sklearn"]');
}

function contractOf(task: TaskBrief, tables: Record<string, string | Buffer>): Contract {
  const contract = inferContract(task, summaryOf(task, tables));
  if ('problem' in contract) throw new Error(contract.problem);
  return contract;
}

function problemOf(task: TaskBrief, tables: Record<string, string | Buffer>): string {
  const contract = inferContract(task, summaryOf(task, tables));
  return 'problem' in contract ? contract.problem : 'none';
}

const homes = {
  'train.csv': 'id,size,town,y\n1,10,A,100\n2,20,B,200.5\n3,30,,300\n',
  'test.csv': 'id,size,town\n4,10,A\n5,20,B\n',
  'sample_submission.csv': 'id,y\n4,0\n5,0\n',
};
const review = 'this film is one of the best that i have ever seen in my life';
const reviews = {
  'train.csv': `text,label\n${review},1\n${review} not,0\n${review} yes,1\n`,
  'test.csv': `id,text\n1,${review}\n`,
};

describe('the contract of a missing model', () => {
  it('has as targets the columns that the rows to predict lack', () => {
    expect(contractOf(taskOf('Mean absolute error', [{ min: 0, max: 1000 }]), homes)).toEqual({
      source: {
        kind: 'table',
        train: 'data/train.csv',
        answers: '',
        columns: { text: 0, letters: 0, number: 1, name: 1 },
        joined: [],
      },
      test: 'data/test.csv',
      submission: 'submission.csv',
      id: 'id',
      targets: ['y'],
      columns: ['y'],
      classColumns: [],
      classifies: false,
      writesProbability: false,
      roundsToWhole: false,
      bounds: [[0, 1000]],
      metric: 'mae',
      isMeasured: true,
      inPercent: false,
      rows: 3,
      classes: 3,
      epochs: null,
      packages: ['numpy', 'scipy', 'sklearn'],
    });
  });

  it('takes the only column that the rows to predict lack for the target, whatever the submission calls it', () => {
    const contract = contractOf(taskOf('MAE', [{ name: 'forecast' }]), homes);
    expect(contract).toMatchObject({ targets: ['y'], columns: ['forecast'] });
    expect(modelScript(contract, 'full', 60, 'MAE')).toContain('COLUMNS = ["forecast"]');
  });

  it('takes several columns that the rows to predict lack, by the words of their names', () => {
    const visits = {
      'train.csv': 'id,age,parts_eur,minutes\n1,10,3.5,20\n2,20,4.5,30\n3,15,1.5,40\n',
      'test.csv': 'id,age\n4,11\n5,12\n',
    };
    const contract = contractOf(taskOf('MAE', [{ name: 'minutes_expected' }, { name: 'parts' }]), visits);
    expect(contract).toMatchObject({
      targets: ['minutes', 'parts_eur'],
      columns: ['minutes_expected', 'parts'],
    });
    const other = taskOf('MAE', [{ name: 'minutes_expected' }, { name: 'cost' }]);
    expect(problemOf(other, visits)).toContain('nothing in the data folder has the asked columns');
  });

  it('finds the rows to predict if the table of the submission lists only their ids', () => {
    const apart = { ...homes, 'test.csv': 'id\n4\n5\n', 'to_score.csv': 'id,size,town\n5,15,A\n4,25,B\n' };
    expect(contractOf(taskOf('MAE', [{}]), apart)).toMatchObject({
      test: 'data/to_score.csv',
      source: { train: 'data/train.csv' },
      targets: ['y'],
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
      expect(contract).toMatchObject({ source: { train: `data/${name}` }, rows: 3, targets: ['y'] });
    }
  });

  it('finds the answers in a separate table, by the ids', () => {
    const apart = {
      'train_features.csv': 'id,size,town\n1,10,A\n2,20,B\n3,30,\n',
      'train_targets.csv': 'id,y\n3,300\n1,100\n2,200.5\n',
      'test.csv': homes['test.csv'],
    };
    const contract = contractOf(taskOf('MAE', [{}]), apart);
    expect(contract).toMatchObject({
      source: { train: 'data/train_features.csv', answers: 'data/train_targets.csv' },
      rows: 3,
    });
    const script = modelScript(contract, 'full', 60, 'MAE');
    expect(script).toContain('ANSWERS = "data/train_targets.csv"');
  });

  it.each([
    ['0', '1'],
    ['p_0', 'p_1'],
    ['class 1 (share)', 'class 0 (share)'],
  ])('may require the probability of each class, in columns that name the classes: %s, %s', (...columns) => {
    const task = taskOf(
      'accuracy',
      columns.map((name) => ({ name })),
    );
    expect(contractOf(task, reviews)).toMatchObject({
      targets: ['label'],
      classColumns: columns.map((name) => [name, name.includes('0') ? '0' : '1']),
      classifies: true,
      source: { columns: { text: 1, letters: 0, number: 0, name: 0 } },
    });
  });

  it('requires classes, one probability, or several numbers, depending on metric and columns', () => {
    const classes = { 'train.csv': 'id,a,y\n1,2,True\n2,3,False\n', 'test.csv': 'id,a\n3,4\n' };
    const ofClasses = contractOf(taskOf('accuracy', [{ type: 'text', values: ['True', 'False'] }]), classes);
    expect(ofClasses).toMatchObject({ classifies: true, writesProbability: false });
    expect(contractOf(taskOf('ROC AUC', [{ min: 0, max: 1 }]), classes).writesProbability).toBe(true);
    const many = { 'train.csv': 'id,a,v,u\n1,2,3,4\n', 'test.csv': 'id,a\n3,4\n' };
    const numbers = contractOf(taskOf('MCRMSE', [{ name: 'u' }, { name: 'v' }]), many);
    expect(numbers).toMatchObject({ targets: ['u', 'v'], metric: 'rmse', classifies: false });
  });

  it('follows the columns if it does not know the metric, and then measures another one', () => {
    const contract = contractOf(taskOf('tail dependence', [{}]), homes);
    expect(contract).toMatchObject({ metric: 'mae', isMeasured: false });
    expect(modelScript(contract, 'quick', 60, 'tail dependence')).not.toContain('dependence');
  });

  it('is refused if the rows to predict contain the answer', () => {
    const leaking = { ...homes, 'test.csv': 'id,size,town,y\n4,10,A,100\n' };
    expect(problemOf(taskOf('MAE', [{}]), leaking)).toContain('hold y themselves');
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

  it.each(['', 'TABLES', 'TABLES {', 'TABLES {"packages": 3}', 'TABLES []'])(
    'is refused if the script printed %j',
    (printed) => {
      expect(inferContract(taskOf('MAE', [{}]), printed)).toHaveProperty('problem');
    },
  );

  it('is refused if a package is missing', () => {
    const printed = summaryOf(taskOf('MAE', [{}]), homes).replace('"numpy", ', '');
    expect(inferContract(taskOf('MAE', [{}]), printed)).toEqual({ problem: 'numpy cannot be imported' });
  });
});

describe('the script that fulfils a contract', () => {
  it('is Python with lines of at most 100 characters, whatever the columns are called', () => {
    const odd = [
      'a"b',
      "c'd",
      'e\\f',
      'π',
      ...Array.from({ length: 30 }, (_, place) => `a long name ${place}`),
    ];
    const contract = { ...contractOf(taskOf('MAE', [{}]), homes), targets: odd };
    const script = modelScript(contract, 'full', 60, 'MAE');
    expect(syntaxErrors(script)).toBe(0);
    expect(script.split('\n').filter((line) => line.length > 100)).toEqual([]);
    const check = 'import ast, sys; sys.stdout.write(str(len(ast.parse(sys.stdin.read()).body)))';
    expect(
      Number(spawnSync('python3', ['-c', check], { input: script, encoding: 'utf8' }).stdout),
    ).toBeGreaterThan(40);
  });

  it('starts with one quick model of the kind that the columns require', () => {
    expect(describeModel(contractOf(taskOf('MAE', [{}]), homes), 'quick')).toBe('boosting');
    const ofTexts = contractOf(taskOf('accuracy', [{ name: '0' }, { name: '1' }]), reviews);
    expect(describeModel(ofTexts, 'quick')).toBe('linear');
  });

  it('blends no model whose run time grows too fast with the number of rows', () => {
    const contract = contractOf(taskOf('MAE', [{}]), homes);
    const full = (rows: number) => describeModel({ ...contract, rows }, 'full').split(', ');
    expect(full(900)).toEqual(expect.arrayContaining(['kernel', 'process', 'deep_boosting']));
    expect(full(10_000)).not.toContain('kernel');
    expect(full(1_000_000)).toEqual(['boosting', 'linear', 'powers', 'polynomial']);
  });

  it('contains only the parts that its columns need', () => {
    const plain = modelScript(contractOf(taskOf('MAE', [{}]), homes), 'full', 60, 'MAE');
    expect(plain).not.toContain('TfidfVectorizer');
    const ofTexts = contractOf(taskOf('accuracy', [{ name: '0' }, { name: '1' }]), reviews);
    const script = modelScript(ofTexts, 'full', 60, 'accuracy');
    expect(script).toContain('TfidfVectorizer');
    expect(script).not.toContain('from automl');
  });

  it('has one seed that can be replaced, and no numbers to tune for its time or its epochs', () => {
    const contract = contractOf(taskOf('MAE', [{}]), homes);
    const pictures = pictureContract(contract, 10);
    for (const each of [contract, pictures]) {
      const script = modelScript(each, 'full', 60, 'MAE');
      const lines = script.split('\n');
      const raised = withSeedsRaised(script, 1).split('\n');
      expect(raised.filter((line, place) => line !== lines[place])).toHaveLength(1);
      const names = findKnobs(script).map(({ name }) => name);
      expect(names.filter((name) => /SECONDS|PASSES|EPOCHS/i.test(name))).toEqual([]);
    }
  });

  it('uses each picture no more often than the task allows', () => {
    const contract = contractOf(taskOf('MAE', [{}]), homes);
    expect(modelScript(pictureContract(contract, 7), 'full', 60, 'MAE')).toContain('MOST_PASSES = 7\n');
    // Without torch, no model may make many passes over the rows either.
    const without = { ...pictureContract(contract, 7), packages: ['numpy', 'scipy', 'sklearn'] };
    expect(describeModel(without, 'full').split(', ')).not.toContain('network');
  });
});

it('prints percent if the task does, and joins tables that share columns', () => {
  const shops = { 'shops.csv': 'town,floor\nA,3\nB,4\n' };
  const task = taskOf('SMAPE in percent', [{}]);
  const percent = { ...task, metric: { ...task.metric, name: 'SMAPE', unit: 'percent' } };
  const contract = contractOf(percent, { ...homes, ...shops });
  expect(contract).toMatchObject({ inPercent: true, source: { joined: ['data/shops.csv'] } });
  const script = modelScript(contract, 'full', 60, 'SMAPE');
  expect(script).toContain('UNIT = 100\n');
  expect(script).toContain('JOINED: list[str] = ["data/shops.csv"]');
  expect(script).toContain(', join_tables))');
});

function pictureContract(contract: Contract, epochs: number | null): Contract {
  const arrays = { train: ['data/a.npy', ''], test: ['data/b.npy', ''], labels: ['data/c.npy', ''] } as const;
  return {
    ...contract,
    epochs,
    packages: ['numpy', 'scipy', 'sklearn', 'torch'],
    source: {
      kind: 'arrays',
      train: [...arrays.train],
      test: [...arrays.test],
      labels: [...arrays.labels],
      byPlace: false,
      shape: [8, 8],
      arePictures: true,
    },
  };
}
