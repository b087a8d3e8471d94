import { expect, it } from 'vitest';
import { FakeEnvironment } from '../../../test/fakes/fake-environment.ts';
import { searchNodeEntry } from '../../schema/index.ts';
import { Workspace } from '../common/workspace.ts';
import { BranchView } from './branch-view.ts';

it('knows the script, and its last run if nothing was changed since', async () => {
  const environment = new FakeEnvironment({
    files: { 'train.py': 'before' },
    steps: 30,
    execute: () => ({ output: 'MAE: 1', exitCode: 0, seconds: 1, writes: { 'submission.csv': 'id,y\n' } }),
  });
  const view = new BranchView(environment, environment, environment.budget, { seconds: 100, steps: 30 });
  const workspace = new Workspace(view);
  await workspace.writeFile('train.py', 'after');
  await workspace.executeScript('train.py');
  await workspace.readFile('train.py');
  expect(view.freshRun?.source).toBe('after');
  await view.step({ name: 'Copy File', args: { source: 'submission.csv', destination: 'model.py' } });
  expect(view.freshRun).toBeNull();
  expect(view.source).toBe('after');
  await view.step({ name: 'Copy File', args: { source: 'submission.csv', destination: 'train.py' } });
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

it('shares its budget with its forks, and continues with the one that an agent selects', async () => {
  const environment = new FakeEnvironment({
    files: { 'train.py': 'first' },
    steps: 30,
    execute: (source) => ({ output: source, exitCode: 0, seconds: 2 }),
  });
  const view = new BranchView(environment, environment, environment.budget, { seconds: 100, steps: 4 });
  await view.step({ name: 'Execute Script', args: { script_name: 'train.py' } });
  const fork = await view.fork();
  await view.step({ name: 'Write File', args: { file_name: 'train.py', content: 'second' } });
  view.select(fork);
  const { budget } = await fork.step({ name: 'Validate Submission', args: {} });
  expect(budget).toMatchObject({ steps_left: 1, seconds_used: 2 });
  expect(view.id).toBe('main');
  view.takeSelected();
  expect(view.id).toBe('b1');
  expect(view.freshRun?.result.observation).toContain('first');
  const last = await view.step({ name: 'Read File', args: { file_name: 'train.py' } });
  expect(last).toMatchObject({ observation: 'first', ended: true });
});
