import { expect, test } from 'vitest';
import { rowsOf, shuffleRows } from './shuffle-rows.ts';

test('a line break in a quoted cell ends no row, and a quote inside an unquoted cell opens none', () => {
  const rows = ['id,text', '1,"two\nlines, ""quoted"""', '2,5" disk', '3,""', '"4","\r\n"'];
  expect(rowsOf(rows.map((row) => `${row}\r\n`).join(''))).toEqual(rows);
  expect(rowsOf(rows.join('\n'))).toEqual(rows);
});

test('blank lines are no rows', () => {
  expect(rowsOf('\nid,y\n\n1,2\n \r\n')).toEqual(['id,y', '1,2']);
});

test('the header and the cells stay as they are, and every row is elsewhere', () => {
  const rows = Array.from({ length: 50 }, (_, row) => `${row},"a ""b""\n${row}"`);
  const text = ['\ufeffid,"y"', ...rows, ''].join('\r\n');
  const shuffled = shuffleRows(text, 'submission.csv');
  const [header, ...others] = rowsOf(shuffled);
  expect(header).toBe('\ufeffid,"y"');
  expect(others.toSorted()).toEqual(rows.toSorted());
  for (const [place, row] of others.entries()) expect(row).not.toBe(rows[place]);
  expect(shuffled.split('\r\n')).toHaveLength(52);
  expect(shuffleRows(text, 'submission.csv')).toBe(shuffled);
  expect(shuffleRows(text, 'other.csv')).not.toBe(shuffled);
});

test('two rows change places, without a line break at the end of the file, too', () => {
  expect(shuffleRows('id,y\n1,a\n2,b', 'submission.csv')).toBe('id,y\n2,b\n1,a\n');
});
