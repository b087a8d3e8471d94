import { expect, test } from 'vitest';
import { type ComparedNames, sideAddress } from './side-address.ts';
import { queryOf } from './use-run-query.ts';

function linked(compared: ComparedNames, side: 'a' | 'b', agent: string | null) {
  const [page, params] = sideAddress(compared, side, 'digits', agent).split('?');
  return { page, filter: queryOf(new URLSearchParams(params)).filter };
}

test('a comparison of experiments links to the runs of each: of the common agent, or of all if there is none', () => {
  const compared = { experiment: null, a: 'first', b: 'second' };
  expect(linked(compared, 'b', null)).toEqual({ page: '/experiments/second', filter: { task: 'digits' } });
  expect(linked(compared, 'a', 'react')).toEqual({
    page: '/experiments/first',
    filter: { task: 'digits', agent: 'react' },
  });
});

test('a comparison of two agents links to the runs of each', () => {
  const compared = { experiment: 'first', a: 'react', b: 'automl' };
  const filter = { task: 'digits', agent: 'automl' };
  expect(linked(compared, 'b', null)).toEqual({ page: '/experiments/first', filter });
});
