import { expect, test } from 'vitest';
import { briefOf } from '../../../../test/fakes/fake-environment.ts';
import { TaskBrief } from '../../../schema/index.ts';
import { constantScript } from './constants.ts';
import { askedTable } from './contract.ts';

function valuesFor(columns: readonly Record<string, unknown>[]): unknown {
  const files = [{ format: 'csv', path: 'submission.csv', id: { column: 'id', from: 'test.csv' }, columns }];
  const task = briefOf({ submission: TaskBrief.shape.submission.parse({ description: 'A table.', files }) });
  const file = askedTable(task);
  const [, values = 'null'] = /\[each, \*(\[.*?\])\]/.exec(file === null ? '' : constantScript(file)) ?? [];
  return JSON.parse(values);
}

test('a column gets a value that it allows: in the middle of the range, or near zero if the range is wide', () => {
  const columns = [
    { name: 'rating', type: 'number', min: 1, max: 5 },
    { name: 'stars', type: 'integer', min: 0, max: 5 },
    { name: 'price', type: 'number', min: 0, max: 1e9 },
    { name: 'height', type: 'number', min: 10, max: 1e6 },
    { name: 'depth', type: 'number', max: -3 },
    { name: 'shape', type: 'text', values: ['round', 'square'] },
    { name: 'share', type: 'number' },
  ];
  expect(valuesFor(columns)).toEqual([3, 2, 0, 10, -3, 'round', 0]);
});
