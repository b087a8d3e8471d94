import { expect, test } from 'vitest';
import { exampleSpec } from '../../test/fixtures/store/examples.ts';
import type { RunSpec } from '../schema/index.ts';
import type { BegunRun } from './export/exported-run.ts';
import { originalPlaces } from './export/to-mlagentbench.ts';

const placesOf = (...specs: Partial<RunSpec>[]) => {
  const runs = specs.map((changes, index) => {
    const spec = { ...exampleSpec(), task: 'digits', model: 'lab/weak', agent: 'tools', seed: 0, ...changes };
    return { folder: { id: String(index) }, record: { spec } } as BegunRun;
  });
  return [...originalPlaces(runs).values()];
};

test('the runs of one agent are in the folder of its model, with a number where a seed was repeated', () => {
  expect(placesOf({}, { seed: 1 }, {})).toEqual(['weak/digits/0', 'weak/digits/1', 'weak/digits/0-2']);
  expect(placesOf({ model: null, agent: 'baseline' })).toEqual(['baseline/digits/0']);
});

test('agents with the same model, or models of the same name, keep folders of their own', () => {
  expect(placesOf({}, { agent: 'react' }, { agent_options: { nudges: 1 } }, { model: 'other/weak' })).toEqual(
    [
      'lab-weak-tools/digits/0',
      'lab-weak-react/digits/0',
      'lab-weak-tools-2/digits/0',
      'other-weak-tools/digits/0',
    ],
  );
});
