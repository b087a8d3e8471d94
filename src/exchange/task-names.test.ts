import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadTask } from '../tasks/index.ts';
import { originalTaskName, slug, taskIdOf } from './task-names.ts';

const tasks = [join(import.meta.dirname, '../../tasks')];

test.each([
  ...[
    'CLRS',
    'amp-parkinsons-disease-progression-prediction',
    'babylm',
    'bibtex-generation',
    'cifar10',
    'fathomnet',
  ],
  ...['feedback', 'house-price', 'identify-contrails', 'imdb', 'literature-review-tool', 'llama-inference'],
  ...['ogbn-arxiv', 'spaceship-titanic', 'vectorization'],
])('the task %s of the original has one of our ids, and is exported under its own name', (name) => {
  const { file } = loadTask(taskIdOf(name), tasks);
  expect(originalTaskName(file.id)).toBe(name);
});

test.each(['constructor', '__proto__', '', '…', 'Ünï  Task', 'x'.repeat(200)])(
  'any name, %j, gives an id',
  (name) => {
    expect(taskIdOf(name)).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
    expect(slug(name, 10).length).toBeLessThanOrEqual(10);
  },
);
