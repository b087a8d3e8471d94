import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { TaskId } from '../../schema/index.ts';
import { loadTask } from '../find-tasks.ts';
import { writeFigures } from '../write-figures.ts';
import { tableFacts } from './table-facts.ts';
import { writeTask } from './write-task.ts';

const template = join(import.meta.dirname, '../../../templates/task');
const requirements = join(import.meta.dirname, '../../../tasks/ecoli/requirements.txt');

function tableFile(text: string): string {
  const file = join(temporaryFolder(), 'table.csv');
  writeFileSync(file, text);
  return file;
}

const rows = (count: number, row: (number: number) => string) =>
  Array.from({ length: count }, (_, number) => row(number)).join('\n');

describe('a table', () => {
  test('with many numbers in its target gives a regression task, with few or with texts a classification task', () => {
    const file = tableFile(
      `id,size,rooms,rent\n${rows(60, (each) => `${each},${each % 7},${each % 3},${each * 1.5}`)}`,
    );
    expect(tableFacts(file, 'rent')).toMatchObject({
      ...{ rows: 60, features: ['size', 'rooms'], leftOut: ['id'], classes: null },
    });
    expect(tableFacts(file, 'rooms').constantScore).toBeCloseTo(1 / 3);
    expect(tableFacts(file, 'size').constantScore).toBeCloseTo(9 / 60);
    expect(tableFacts(file, 'rent').constantScore).toBeCloseTo(Math.sqrt((60 ** 2 - 1) / 12) * 1.5);
    expect([...(tableFacts(file, 'rooms').classes ?? [])]).toEqual([
      ['0', 20],
      ['1', 20],
      ['2', 20],
    ]);
  });

  test('counts only rows with a target', () => {
    const file = tableFile(`a,b\n${rows(80, (each) => `${each},${each % 4 === 0 ? '' : each % 2}`)}`);
    expect(tableFacts(file, 'b').rows).toBe(60);
  });

  test('is reported with what is left out, and with columns that identify a row or a day', () => {
    const file = tableFile(
      `id,order_no,ordered_on,size,rent\n${rows(80, (each) => `${each},A${each},2026-01-${1 + (each % 28)},${each / 7},${each % 4 === 0 ? '' : each * 1.5}`)}`,
    );
    expect(tableFacts(file, 'rent', ['size'])).toMatchObject({
      ...{ rows: 60, rowsLeftOut: 20, leftOut: ['id', 'size'], features: ['order_no', 'ordered_on'] },
      suspects: ['order_no differs in every row', 'ordered_on looks like a date'],
    });
    expect(() => tableFacts(file, 'rent', ['sise'])).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/^Did you mean size\?/) }),
    );
  });

  test.each([
    [
      'numbers with a word for gaps',
      `a,b\n${rows(60, (each) => `${each},${each % 9 ? each : 'NA'}`)}`,
      'b',
      /b holds numbers and 'NA' \(7 rows\)/,
    ],
    ['semicolons', 'a;b\n1;2\n', 'b', /seems to be separated by ';'/],
    ['nothing', '', 'b', /is empty/],
    ['no such column', 'a,b\n1,2\n', 'c', /has no column c/],
    ['a column spelled another way', 'size,Rent\n1,2\n', 'rent', /has no column rent/],
    ['a column without a name', `a,,b\n${rows(60, () => '1,2,3')}`, 'b', /without a name/],
    ['one name twice', `a,a,b\n${rows(60, () => '1,2,3')}`, 'b', /"a" twice/],
    ['too few rows', `a,b\n${rows(9, (each) => `${each},${each}`)}`, 'b', /has 9 rows with a b/],
    ['one value', `a,b\n${rows(60, (each) => `${each},x`)}`, 'b', /one value/],
    ['as many texts as rows', `a,b\n${rows(60, (each) => `${each},t${each}`)}`, 'b', /60 distinct texts/],
    ['the target alone', `b\n${rows(60, (each) => `${each}`)}`, 'b', /no column beside/],
    [
      'a space before a quote',
      `a,b\n${rows(60, (each) => `${each}, "x, ${each % 2}"`)}`,
      'b',
      /can't be read: Invalid Opening Quote/,
    ],
    ['rows of other lengths', 'a,b\n1,2,3\n', 'b', /can't be read/],
  ])('with %s is refused, and the message says what to do', (_, text, target, message) => {
    expect(() => tableFacts(tableFile(text), target)).toThrow(message);
  });

  test('whose target is misspelled is refused with the nearest name and some of the columns', () => {
    const header = ['Rent', ...Array.from({ length: 5_000 }, (_, number) => `column ${number}`)];
    const refused = () => tableFacts(tableFile(`${header.join()}\n`), 'rent');
    expect(refused).toThrow(
      expect.objectContaining({
        hint: expect.stringMatching(
          /^Did you mean Rent\? Its columns are: Rent, column 0,.* and 4981 more\.$/,
        ),
      }),
    );
  });

  test('that is not a file, or not in UTF-8, is refused', () => {
    const folder = temporaryFolder();
    expect(() => tableFacts(join(folder, 'none.csv'), 'b')).toThrow(/^There is no file .*none\.csv/);
    const pipe = join(folder, 'pipe.csv');
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
    expect(() => tableFacts(pipe, 'b')).toThrow(/is not a regular file/);
    expect(() => tableFacts('/dev/zero', 'b')).toThrow(/is not a regular file/);
    const file = join(folder, 'latin.csv');
    writeFileSync(file, Buffer.from(`a,b\n${rows(60, (each) => `K\u00f6ln,${each}`)}`, 'latin1'));
    expect(() => tableFacts(file, 'b')).toThrow(/can't be read/);
  });
});

test('whatever its columns and classes are called, the written task is valid', () => {
  const name = fc
    .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
    .filter((text) => text.trim() === text && text !== '' && text !== 'id' && !/[\r\n\0]/.test(text));
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { minLength: 3, maxLength: 5 }),
      fc.array(name, { minLength: 2, maxLength: 2 }),
      (header, classes) => {
        const [first = '', second = ''] = classes;
        const values = first === second ? [first, `${first}x`] : [first, second];
        const table = Array.from({ length: 50 }, (_, row) =>
          header.map((__, column) => (column === 0 ? (values[row % 2] ?? '') : `${row}`)),
        );
        const csv = tableFile(stringify([header, ...table]));
        const facts = tableFacts(csv, header[0] ?? '');
        const folder = join(temporaryFolder(), 'mine');
        writeTask({
          id: TaskId.parse('mine'),
          facts,
          csv,
          folder,
          template,
          requirements,
        });
        const { file } = loadTask(folder, [], { toMeasure: true });
        expect(file.submission.files[0]).toMatchObject({ columns: [{ name: header[0] }] });
        expect(file.problem).toContain(`Predict \`${header[0]}\``);
      },
    ),
    { numRuns: 30 },
  );
});

test('a new task is not measured yet; measured figures make it valid, and edits by a person stay', () => {
  const csv = tableFile(`a,b\n${rows(60, (each) => `${each},${each * 2}`)}`);
  const folder = join(temporaryFolder(), 'mine');
  const facts = tableFacts(csv, 'b');
  writeTask({
    id: TaskId.parse('mine'),
    facts,
    csv,
    folder,
    template,
    requirements,
  });
  const path = join(folder, 'task.yaml');
  writeFileSync(path, `# mine\n${readFileSync(path, 'utf8')}`);
  expect(() => loadTask(folder, [])).toThrow(
    /^the task in .* has 2 problems:\n.* baseline: not measured yet\n.*run mlab tasks baseline \/\S+\/mine --write\n.* reference: not/,
  );
  const figures = { mean: 2.5, spread: 0.1, seeds: 3, seconds: 1.2 };
  const measured = { baseline: { ...figures, machine: 'here' }, reference: { ...figures, mean: 1.5 } };
  writeFigures({ folder, variant: null }, measured, 0.2);
  expect(readFileSync(path, 'utf8')).toMatch(/^# mine\n/);
  const { baseline, reference, success } = loadTask(folder, []).file;
  expect(baseline).toMatchObject({ mean: 2.5, machine: 'here', method: 'starter' });
  expect([reference.mean, success.threshold]).toEqual([1.5, 0.2]);
});

test('measured figures change only their own lines of task.yaml', () => {
  const csv = tableFile(`a,b\n${rows(60, (each) => `${each},${each * 2}`)}`);
  const folder = join(temporaryFolder(), 'mine');
  writeTask({
    ...{ id: TaskId.parse('mine'), facts: tableFacts(csv, 'b'), csv, folder },
    ...{ template, requirements },
  });
  const path = join(folder, 'task.yaml');
  const earlier = { mean: 9, spread: 9, seeds: 9, seconds: 9 };
  const place = { folder, variant: null };
  writeFigures(place, { baseline: { ...earlier, machine: 'there' } });
  const before = `${readFileSync(path, 'utf8')}read_only: [ data.py,  words.py] # "mine"\n`;
  expect(before).toMatch(/^# yaml-language-server: \$schema=.*task\.schema\.json\n/);
  writeFileSync(path, before);
  const figures = { mean: 2.5, spread: 0.5, seeds: 7, seconds: 4.5 };
  writeFigures(place, { baseline: { ...figures, machine: 'here: 2 cores' } });
  const [old, now] = [before.split('\n'), readFileSync(path, 'utf8').split('\n')];
  expect(now).toHaveLength(old.length);
  const changed = now.filter((line, index) => line !== old[index]);
  expect(changed.every((line) => /^ {2}(mean|spread|seeds|seconds|machine): /.test(line))).toBe(true);
  expect(changed).toContain('  mean: 2.5');
});

test('a column with the same name as something in the scripts keeps its name there', () => {
  const csv = tableFile(`a,RMSE\n${rows(60, (each) => `${each},${each % 2}`)}`);
  const folder = join(temporaryFolder(), 'mine');
  writeTask({
    ...{ id: TaskId.parse('mine'), facts: tableFacts(csv, 'RMSE'), csv, folder },
    ...{ template, requirements },
  });
  for (const script of ['env/train.py', 'hidden/prepare.py', 'hidden/grade.py'])
    expect(readFileSync(join(folder, script), 'utf8')).toContain('TARGET = "RMSE"');
});

test('an existing folder is left unchanged', () => {
  const csv = tableFile(`a,b\n${rows(60, (each) => `${each},${each * 2}`)}`);
  const folder = join(temporaryFolder(), 'mine');
  mkdirSync(folder);
  const task = { id: TaskId.parse('mine'), facts: tableFacts(csv, 'b'), csv, folder };
  expect(() => writeTask({ ...task, template, requirements })).toThrow(/already exists/);
});
