import { expect, it } from 'vitest';
import { FakeEnvironment } from '../../../test/fakes/fake-environment.ts';
import { searchNodeEntry } from '../../schema/index.ts';
import { Workspace } from '../common/workspace.ts';
import { BranchView } from './branch-view.ts';

it('knows the script and its last run through copies of files that the script does not mention', async () => {
  const environment = new FakeEnvironment({
    files: { 'train.py': 'before' },
    steps: 30,
    execute: () => ({ output: 'MAE: 1', exitCode: 0, seconds: 1, writes: { 'submission.csv': 'id,y\n' } }),
  });
  const view = new BranchView(environment, environment, environment.budget, { seconds: 100, steps: 30 });
  const workspace = new Workspace(view);
  const source = 'import model\nopen("table.csv")';
  await workspace.writeFile('train.py', source);
  await workspace.executeScript('train.py');
  await workspace.copyFile('submission.csv', 'kept_1_submission.csv');
  expect(view.source).toBe(source);
  expect(view.freshRun?.source).toBe(source);

  for (const path of ['model.py', 'table.csv', 'submission.csv']) {
    await workspace.executeScript('train.py');
    await workspace.copyFile('kept_1_submission.csv', path);
    expect(view.freshRun, path).toBeNull();
    expect(view.source, path).toBe(source);
  }
  await workspace.copyFile('kept_1_submission.csv', 'train.py');
  expect(view.source).toBeNull();
});

it('does not pass on attempts of an agent on the branch, which are not those of the search', () => {
  const environment = new FakeEnvironment({
    files: {},
    steps: 30,
    execute: () => ({ output: '', exitCode: 0, seconds: 1 }),
  });
  const view = new BranchView(environment, environment, environment.budget, { seconds: 100, steps: 30 });
  view.note({ [searchNodeEntry]: '{}' });
  view.note({ [searchNodeEntry]: '{}', Decision: 'kept' });
  expect(environment.notes).toEqual([{ Decision: 'kept' }]);
});
