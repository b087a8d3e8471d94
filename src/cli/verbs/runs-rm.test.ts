import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan } from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { createExperiment } from '../../store/index.ts';
import { createContext } from '../context.ts';
import { runsRm } from './runs-rm.ts';

const signal = new AbortController().signal;

function storeWith(...names: string[]) {
  const dir = temporaryFolder();
  const made = names.map((name) =>
    createExperiment(join(dir, name), { ...examplePlan(['digits-a', 'digits-b']), name: name as never }),
  );
  const rm = (given: string[], yes = true) =>
    runsRm.run(createContext({ dir }, {}, '1', signal), given, { yes });
  return { dir, experiments: made, rm };
}

test('experiments that match a pattern are removed with leftovers of earlier removals, and the others stay', async () => {
  const { dir, rm } = storeWith('try-1', 'try-2', 'kept');
  mkdirSync(join(dir, '.removed-try-0-1f/runs'), { recursive: true });
  await rm(['try-*']);
  expect(readdirSync(dir)).toEqual(['kept']);
});

test('an experiment with a run in progress stays complete', async () => {
  const { experiments, rm } = storeWith('busy');
  const [experiment] = experiments;
  using lease = experiment?.runFolder('digits-b').lock();
  await expect(rm(['busy'])).rejects.toThrow(/process \d+ .* is working on/);
  expect(existsSync(join(experiment?.folder ?? '', 'plan.json'))).toBe(true);
  lease?.verify();
});

test('nothing is removed if nobody can be asked, and a folder that is not an experiment is refused', async () => {
  const { dir, rm } = storeWith('one');
  await expect(rm(['one'], false)).rejects.toThrow(/not a terminal/);
  await expect(rm(['one/digits-a'])).rejects.toThrow(/is not an experiment/);
  await expect(rm(['two'])).rejects.toThrow(/no experiment "two"/);
  expect(readdirSync(dir)).toEqual(['one']);
});
