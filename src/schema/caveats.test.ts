import { expect, test } from 'vitest';
import { exampleSpec } from '../../test/fixtures/store/examples.ts';
import { RunSpec } from './run.ts';

test('the caveats of a run that an older version recorded are read by their old name', () => {
  const { caveats: _, ...spec } = exampleSpec('old');
  expect(RunSpec.parse({ ...spec, marks: ['no sandbox'] })).toEqual({ ...spec, caveats: ['no sandbox'] });
  expect(() => RunSpec.parse(spec)).toThrow(/caveats/);
});
