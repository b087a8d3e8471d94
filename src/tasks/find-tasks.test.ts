import { chmodSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeTask, taskFields } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { findTasks, loadTask, suites } from './find-tasks.ts';

describe('finding tasks', () => {
  it('gives the valid ones by id and says what is wrong with the others', () => {
    const tasks = temporaryFolder();
    makeTask(tasks, 'zebra');
    makeTask(tasks, 'apple');
    makeTask(tasks, 'broken', { fields: { title: 7 } });
    mkdirSync(join(tasks, '_drafts'));
    mkdirSync(join(tasks, 'notes'));
    const found = findTasks([tasks]);
    expect(found.tasks.map((task) => task.file.id)).toEqual(['apple', 'zebra']);
    expect(found.problems.map(({ field }) => field)).toEqual(['title']);
  });

  it('uses the first of two tasks with the same id and reports the other', () => {
    const [first, second] = [temporaryFolder(), temporaryFolder()];
    makeTask(first, 'apple');
    makeTask(second, 'apple');
    const { tasks, problems } = findTasks([first, second]);
    expect(tasks.map((task) => task.folder)).toEqual([join(first, 'apple')]);
    expect(problems).toMatchObject([{ file: join(second, 'apple/task.yaml'), field: 'id' }]);
  });

  it('reports a missing folder', () => {
    expect(findTasks(['/nowhere/at/all']).problems).toHaveLength(1);
  });
});

describe('a variant', () => {
  const variants = {
    paper: { title: 'The original split', baseline: { ...(taskFields('x').baseline as object), mean: 0.4 } },
  };

  it('is a separate task in which its fields replace those of its base task', () => {
    const tasks = temporaryFolder();
    makeTask(tasks, 'apple', { fields: { variants, suites: ['fruit'] } });
    const found = findTasks([tasks]).tasks;
    expect(found.map(({ file, variant }) => [file.id, variant])).toEqual([
      ['apple', null],
      ['apple-paper', 'paper'],
    ]);
    const variant = loadTask('apple-paper', [tasks]);
    expect(variant.brief).toMatchObject({ id: 'apple-paper', title: 'The original split' });
    expect(variant.file.baseline.mean).toBe(0.4);
    expect(variant.file.reference).toEqual(loadTask('apple', [tasks]).file.reference);
    expect(variant.folder).toBe(join(tasks, 'apple'));
    expect([...suites(found)].map(([name, members]) => [name, members.length])).toEqual([['fruit', 1]]);
  });

  it('is checked like a task, and its problems are reported with their place', () => {
    const tasks = temporaryFolder();
    makeTask(tasks, 'apple', { fields: { variants: { paper: { title: 7 } } } });
    makeTask(tasks, 'pear', { fields: { variants: { paper: { entry: 'other.py' } } } });
    expect(findTasks([tasks]).problems.map(({ field }) => field)).toEqual([
      'variants.paper.title',
      'variants.paper.entry',
    ]);
  });

  it('that does not exist is not a task', () => {
    const tasks = temporaryFolder();
    makeTask(tasks, 'apple', { fields: { variants } });
    expect(() => loadTask('apple-papers', [tasks])).toThrowError('There is no task');
  });
});

describe('loading a task', () => {
  it('works by id and by path, and the brief reveals nothing about sources and scores', () => {
    const tasks = temporaryFolder();
    const folder = makeTask(tasks, 'apple');
    const task = loadTask('apple', [tasks]);
    expect(loadTask(folder, [])).toEqual(task);
    expect(task.environmentFolder).toBe(join(folder, 'env'));
    expect(Object.keys(task.brief).sort()).toEqual([
      'entry',
      'id',
      'metric',
      'problem',
      'read_only',
      'submission',
      'title',
    ]);
  });

  it('lists the known ids and the nearest one when there is no such task', () => {
    const tasks = temporaryFolder();
    makeTask(tasks, 'spaceship-titanic');
    makeTask(tasks, 'digits', { fields: { variants: { small: { title: 'Few digits' } } } });
    expect(() => loadTask('digit', [tasks])).toThrowError(
      expect.objectContaining({
        code: 'unknown_task',
        message: 'There is no task "digit". Did you mean "digits"?',
        hint: expect.stringMatching(
          /--task-dir .*\. The tasks are: digits, digits-small, spaceship-titanic\.$/,
        ),
      }),
    );
  });

  it('suggests an id of which a part was given, and of many ids lists the first ten', () => {
    const tasks = temporaryFolder();
    for (let at = 10; at < 22; at += 1) makeTask(tasks, `task-${at}`);
    makeTask(tasks, 'spaceship-titanic');
    expect(() => loadTask('titanic', [tasks])).toThrowError(
      expect.objectContaining({
        message: 'There is no task "titanic". Did you mean "spaceship-titanic"?',
        hint: expect.stringMatching(
          /The tasks are: spaceship-titanic, task-10, .*, task-18 and 3 more: mlab tasks ls lists them\.$/,
        ),
      }),
    );
    expect(() => loadTask('k', [tasks])).toThrowError(
      expect.objectContaining({ message: 'There is no task "k".' }),
    );
  });

  it('says what a folder of that name lacks to be a task', () => {
    const tasks = temporaryFolder();
    mkdirSync(join(tasks, 'digits', 'env'), { recursive: true });
    mkdirSync(join(tasks, 'digits', 'hidden'));
    expect(() => loadTask('digits', [temporaryFolder(), tasks])).toThrowError(
      `${join(tasks, 'digits')} is not a task: it has no task.yaml.`,
    );
  });

  it('names the folder of that name in the current folder: only its path is taken for one', () => {
    const here = temporaryFolder();
    makeTask(here, 'digits');
    vi.spyOn(process, 'cwd').mockReturnValue(here);
    expect(() => loadTask('digits', [temporaryFolder()])).toThrowError(
      'There is no task "digits". Did you mean "./digits"?',
    );
    vi.restoreAllMocks();
  });

  it('throws all problems of an invalid task', () => {
    const tasks = temporaryFolder();
    makeTask(tasks, 'apple', { fields: { title: 7, category: 8 } });
    expect(() => loadTask('apple', [tasks])).toThrow(/2 problems:\n.*title.*\n.*\n.*category/);
  });

  it('gives a version that changes only with names and contents', () => {
    const tasks = temporaryFolder();
    const folder = makeTask(tasks, 'apple');
    const version = () => loadTask('apple', [tasks]).version;
    const first = version();
    utimesSync(join(folder, 'env/train.py'), 1, 1);
    chmodSync(join(folder, 'env/train.py'), 0o600);
    mkdirSync(join(folder, 'hidden/__pycache__'));
    writeFileSync(join(folder, 'hidden/__pycache__/grade.pyc'), 'x');
    expect(version()).toBe(first);
    writeFileSync(join(folder, 'hidden/solution/notes.md'), 'x');
    expect(version()).not.toBe(first);
  });
});

describe('suites', () => {
  it('group tasks by the suite names in their files', () => {
    const tasks = temporaryFolder();
    makeTask(tasks, 'zebra', { fields: { suites: ['starter', 'animals'] } });
    makeTask(tasks, 'apple', { fields: { suites: ['starter', 'starter'] } });
    const groups = suites(findTasks([tasks]).tasks);
    expect([...groups].map(([name, members]) => [name, members.map(({ file }) => file.id)])).toEqual([
      ['animals', ['zebra']],
      ['starter', ['apple', 'zebra']],
    ]);
  });
});
