import { expect, it } from 'vitest';
import { taskOf } from '../../../../test/fixtures/table-task.ts';
import { modelScript } from './contract.ts';
import { contractOf, homes, problemOf, settingsOf } from './test-support.ts';

it('learns also from other tables of the same columns, unless they have the same rows', () => {
  const valid = 'id,size,town,y\n7,10,A,100\n8,20,B,200\n';
  const contract = contractOf(taskOf('MAE', [{}]), { ...homes, 'valid.csv': valid });
  expect(contract).toMatchObject({
    plan: expect.stringContaining('from 5 rows of data/train.csv and data/valid.csv'),
    settings: { TRAIN: ['data/train.csv', 'data/valid.csv'] },
  });
  const some = homes['train.csv'].split('\n').slice(0, 2).join('\n');
  expect(settingsOf(taskOf('MAE', [{}]), { ...homes, 'some.csv': some })).toMatchObject({
    TRAIN: ['data/train.csv'],
  });
});

it('reads a folder of tables as one, whose files are called as a column of the rows to predict says', () => {
  const shops = ['north', 'east', 'south'];
  const history = Object.fromEntries(
    shops.map((shop) => [`history/${shop}.csv`, 'date,sold\n2024-01-01,3\n2024-01-02,4\n']),
  );
  const asked = shops.map((shop, place) => `${place},${shop},2024-01-03`).join('\n');
  const files = {
    ...history,
    'test.csv': `id,shop,date\n${asked}\n`,
    'promotions.csv': 'shop,date\nnorth,2024-01-03\n',
  };
  expect(contractOf(taskOf('MAE', [{ name: 'quantity' }]), files)).toMatchObject({
    plan: expect.stringContaining('Learn sold (numbers) from 6 rows of data/history'),
    settings: {
      TRAIN: ['data/history/east.csv', 'data/history/north.csv', 'data/history/south.csv'],
      FILE_COLUMN: 'shop',
      JOINED: [['data/promotions.csv']],
    },
  });
});

it('reads tables of the same name and columns as one that is to be joined', () => {
  const rows = (folder: string, ids: number[], more: string) => ({
    [`${folder}/plots.csv`]: `id,size${more === '' ? '' : ',y'}\n${ids.map((id) => `${id},5${more}\n`).join('')}`,
    [`${folder}/visits.csv`]: `id,litres\n${ids.map((id) => `${id},${id}\n${id},3\n`).join('')}`,
  });
  const files = { ...rows('train', [1, 2, 3], ',7'), ...rows('test', [4, 5], '') };
  const task = taskOf('MAE', [{}]);
  const [file] = task.submission.files;
  if (file?.format === 'csv') file.id.from = 'test/plots.csv';
  expect(settingsOf(task, files)).toMatchObject({
    TRAIN: ['data/train/plots.csv'],
    JOINED: [['data/train/visits.csv', 'data/test/visits.csv']],
  });
});

it('knows the file of each id in a folder of its own', () => {
  const ids = ['u1', 'u2', 'u3', 'u4', 'u5', 'u6'];
  const files = {
    ...Object.fromEntries(ids.map((id) => [`units/${id}/signal.wav`, ''])),
    ...Object.fromEntries(ids.map((id) => [`units/${id}/meta.json`, '{"speed": 3}'])),
    'train.csv': 'id,y\nu1,a\nu2,b\nu3,a\nu4,b\n',
    'test.csv': 'id\nu5\nu6\n',
  };
  expect(settingsOf(taskOf('accuracy', [{ type: 'text' }]), files)).toMatchObject({
    TRAIN_FILES: ['id', 'data/units', '/signal.wav'],
    TEST_FILES: ['id', 'data/units', '/signal.wav'],
  });
});

it('joins a folder with a table for each id', () => {
  const rows = Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((id) => [`signals/${id}.csv`, `t,force\n0,${id}\n1,2\n`]),
  );
  const files = {
    ...rows,
    'train.csv': 'id,size,y\n1,10,1\n2,20,2\n3,5,3\n',
    'test.csv': 'id,size\n4,1\n5,2\n6,9\n',
  };
  expect(settingsOf(taskOf('MAE', [{}]), files)).toMatchObject({
    ...{ TRAIN: ['data/train.csv'], JOINED: [['data/signals']], FILE_COLUMN: 'id' },
  });
});

it('knows rows that have nothing but ids from a table with several rows for each id', () => {
  const files = {
    'train.csv': 'id,y\n1,a\n2,b\n3,a\n',
    'test.csv': 'id\n4\n5\n',
    'events.csv': `id,kind,seconds\n${[1, 2, 3, 4, 5].map((id) => `${id},open,3\n${id},shut,4\n`).join('')}`,
    'sample_submission.csv': 'id,y\n4,a\n5,a\n',
  };
  expect(contractOf(taskOf('accuracy', [{ type: 'text' }]), files)).toMatchObject({
    plan: expect.stringContaining('from 3 rows of data/train.csv (joined with data/events.csv)'),
    settings: { TRAIN: ['data/train.csv'], JOINED: [['data/events.csv']] },
  });
});

it('knows rows that have nothing but ids from a table for each id, in folders of their own', () => {
  const table = (folder: string, ids: number[]) =>
    Object.fromEntries(ids.map((id) => [`${folder}/w${id}.csv`, `t,force\n0,${id}\n1,2\n`]));
  const files = {
    ...table('train', [1, 2, 3, 4]),
    ...table('test', [5, 6, 7]),
    'labels.csv': 'id,y\nw1,1\nw2,2\nw3,3\nw4,1\n',
    'test.csv': 'id\nw5\nw6\nw7\n',
  };
  expect(settingsOf(taskOf('MAE', [{}]), files)).toMatchObject({
    ...{ TRAIN: ['data/labels.csv'], JOINED: [['data/test', 'data/train']], FILE_COLUMN: 'id' },
  });
});

it('finds the answers in a separate table, by the ids', () => {
  const apart = {
    'train_features.csv': 'id,size,town\n1,10,A\n2,20,B\n3,30,\n',
    'train_targets.csv': 'id,y\n3,300\n1,100\n2,200.5\n',
    'test.csv': homes['test.csv'],
  };
  const contract = contractOf(taskOf('MAE', [{}]), apart);
  const script = modelScript(contract, 60);
  expect(script).toContain('TRAIN = ["data/train_features.csv"]');
  expect(script).toContain('ANSWERS = "data/train_targets.csv"');
});

it('finds the answers in a separate table without ids, in the same order', () => {
  const apart = {
    'x_train.csv': 'size,town\n10,A\n20,B\n30,\n',
    'y_train.csv': 'price\n100\n200.5\n300\n',
    'test.csv': homes['test.csv'],
  };
  const found = {
    TRAIN: ['data/x_train.csv'],
    ANSWERS: 'data/y_train.csv',
    TARGETS: ['price'],
    COLUMNS: ['y'],
  };
  expect(settingsOf(taskOf('MAE', [{}]), apart)).toMatchObject(found);
  const shorter = { ...apart, 'y_train.csv': 'price\n100\n200.5\n' };
  expect(problemOf(taskOf('MAE', [{}]), shorter)).toContain(
    'nothing in the data folder has the asked columns',
  );
});

it('finds answers in a separate table whatever the submission calls them, and never takes what is known of the rows to predict for them', () => {
  const dna = {
    'train.fa': '>s1\nACGT\n>s2\nAAGT\n>s3\nTCGT\n',
    'activity.csv': 'name,active\ns1,1\ns2,0\ns3,1\n',
    'test.fa': '>s4\nACGA\n>s5\nACCA\n',
    'test.csv': 'name,score\ns4,0.5\ns5,0.5\n',
  };
  const task = taskOf('AUC', [{ name: 'score' }], 'name');
  expect(settingsOf(task, dna)).toMatchObject({
    ...{
      TRAIN: ['data/train.fa'],
      ANSWERS: 'data/activity.csv',
      TEST: 'data/test.fa',
      TARGETS: ['active'],
    },
  });
  const more = {
    ...dna,
    'activity.csv': dna['activity.csv'].replace(/(\w+,\w+)/g, '$1,1').replace('active,1', 'active,batch'),
  };
  expect(problemOf(task, more)).toContain('nothing in the data folder has the asked columns');
});

it('does not learn what another table says of a column of the rows to predict', () => {
  const boilers = {
    'boilers.csv': 'id,model,year,zone\n1,X,2001,A\n2,Y,2004,B\n3,X,2009,A\n4,Y,2011,B\n',
    'forecast.csv': 'zone,mean_outdoor\nA,3.5\nB,4.5\n',
    'test.csv': 'id\n3\n4\n',
  };
  const task = taskOf('MAE', [{ name: 'kwh' }]);
  const found = settingsOf(task, { ...boilers, 'targets.csv': 'id,kwh\n1,900\n2,800\n' });
  expect(found).toMatchObject({ TARGETS: ['kwh'], ANSWERS: 'data/targets.csv' });
  expect(problemOf(task, boilers)).toContain('nothing in the data folder has the asked columns');
});

it('reads the sentences and sequences of tables that are joined', () => {
  const numbers = Array.from({ length: 24 }, (_, place) => place);
  const homes = {
    'train.csv': `id,size,y\n${numbers
      .slice(0, 12)
      .map((id) => `${id},3,${id % 2}\n`)
      .join('')}`,
    'test.csv': `id,size\n${numbers.slice(12).join(',3\n')},3\n`,
  };
  const sequences = numbers.map((id) => `>${id}\nACDEFGHIKLMNPQ${'RST'[id % 3]}${id}\n`).join('');
  const ofSequences = contractOf(taskOf('MAE', [{}]), { ...homes, 'peptides.fasta': sequences });
  expect(ofSequences.settings).toMatchObject({ JOINED: [['data/peptides.fasta']] });
  expect(ofSequences.parts).toContain('pieces');
  const notes = numbers.map((id) => `${id},they wrote that the number is ${id}\n`).join('');
  const ofNotes = contractOf(taskOf('MAE', [{}]), { ...homes, 'notes.csv': `id,note\n${notes}` });
  expect(ofNotes.settings).toMatchObject({ JOINED: [['data/notes.csv']] });
  expect(ofNotes.parts).toContain('texts');
});
