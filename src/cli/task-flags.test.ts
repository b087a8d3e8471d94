import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTask } from '../../test/fixtures/make-task.ts';
import { examplePlan, exampleRecord, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { notBegun } from '../runs/index.ts';
import { createExperiment } from '../store/index.ts';
import { loadTask } from '../tasks/index.ts';
import { createContext } from './context.ts';
import { conclude } from './execute-plan.ts';
import { silentLogger } from './logger.ts';
import { taskFlagsOf } from './task-flags.ts';

const contextWith = (places: { dir?: string; taskDir?: string[] } = {}) =>
  createContext(places, {}, '1', new AbortController().signal);

test('a task that was given by its folder is found again by --task-dir, unless it was named already', () => {
  const tasks = join(temporaryFolder(), 'my tasks');
  const [price, size] = ['my-price', 'my-size'].map((id) => loadTask(makeTask(tasks, id), []));
  if (price === undefined || size === undefined) throw new Error('no tasks were made');
  expect(taskFlagsOf(contextWith(), [price, size])).toBe(` --task-dir '${tasks}'`);
  expect(taskFlagsOf(contextWith({ taskDir: [tasks] }), [price, size])).toBe('');
});

test('so is one with the id of a task of mlab', () => {
  const own = loadTask(makeTask(temporaryFolder(), 'digits'), []);
  expect(taskFlagsOf(contextWith(), [own])).toBe(` --task-dir ${dirname(own.folder)}`);
  expect(taskFlagsOf(contextWith(), [loadTask('digits', contextWith().folders.tasks)])).toBe('');
});

test('the log says why a run could not even begin, unless it was only stopped', async () => {
  const dir = temporaryFolder();
  const specs = [exampleSpec('run-0'), exampleSpec('run-1')];
  const experiment = createExperiment(join(dir, 'first'), { ...examplePlan(), runs: specs });
  const problems = ['vm has mlab 0.1.0.', notBegun];
  const result = specs.map((spec, at) => ({ spec, record: null, problem: problems[at] ?? '', grades: [] }));
  const written: unknown[] = [];
  const logger = { ...silentLogger, write: (...entry: unknown[]) => void written.push(entry) };
  const context = createContext({ dir }, {}, '1', new AbortController().signal, logger);
  await conclude(context, experiment, { result, cancelled: null });
  const facts = { experiment: 'first', run: 'run-0', message: 'vm has mlab 0.1.0.' };
  expect(written).toEqual([['error', 'run_not_begun', facts]]);
});

test('the commands after an experiment name the folder of its tasks where they need it', async () => {
  const dir = temporaryFolder();
  const spec = exampleSpec('run-0');
  const experiment = createExperiment(join(dir, 'first'), { ...examplePlan(), runs: [spec] });
  const record = exampleRecord({ spec, status: 'finished' });
  experiment.runFolder(spec.id).writeRecordSync(record);
  const problem = 'not graded: No submission can be graded';
  const executed = { result: [{ spec, record, problem, grades: [] }], cancelled: null };
  const flags = " --task-dir 'my tasks'";
  const { text } = await conclude(contextWith({ dir }), experiment, executed, flags);
  expect(text).toContain(`mlab grade first${flags} --dir ${dir}`);
  expect(text).toMatch(/mlab report first --dir/);
});
