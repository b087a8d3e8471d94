import { expect, test } from 'vitest';
import { makeBranchedRun } from '../../../test/fixtures/store/branched-run.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { createContext } from '../context.ts';
import { runsShow } from './runs-show.ts';

test('the steps of all branches are shown as used, as the limit counts them', async () => {
  const folder = temporaryFolder();
  const { run } = await makeBranchedRun(folder);
  const context = createContext({ dir: folder }, {}, '0', new AbortController().signal);
  const { text } = await runsShow.run(context, [`branched/${run.id}`], {});
  expect(text).toContain('6 steps in 3 branches, 3 of them in the selected history, ');
});

test.each([['last'], ['@last'], ['--step']])('the last step is shown by its name: %s', async (way) => {
  const folder = temporaryFolder();
  const { run } = await makeBranchedRun(folder);
  const context = createContext({ dir: folder }, {}, '0', new AbortController().signal);
  const parse = runsShow.flags?.find(({ flags }) => flags.startsWith('--step'))?.parse;
  const shown = await runsShow.run(
    context,
    [`branched/${run.id}${way === '@last' ? way : ''}`, ...(way === 'last' ? [way] : [])],
    way === '--step' ? { step: parse?.('last', '--step') } : {},
  );
  expect(shown.json).toMatchObject({ step: 3 });
});
