import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTask } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { findTasks, loadTask } from '../tasks/index.ts';
import { fingerprintOf } from './fingerprint.ts';

test("a task's fingerprint has what its agents learn of it, and the packages of its starter", () => {
  const tasks = temporaryFolder();
  const source = [
    ...['from __future__ import annotations', 'import os, numpy as np', 'import torch.nn as nn  # a network'],
    ...[
      'from sklearn.svm import SVC',
      'from helper import read',
      'def later():',
      '    import pandas',
      '# import jax',
    ],
  ].join('\n');
  const fields = {
    variants: { small: { title: 'With less data' } },
    data: { size: '90 rows', split: 'by row' },
  };
  makeTask(tasks, 'colours', {
    fields,
    files: { 'env/train.py': source, 'env/helper.py': 'import scipy\n' },
  });
  const fingerprint = fingerprintOf(loadTask('colours', [tasks]));
  expect(fingerprint).toEqual({
    ...{ task: 'colours', family: 'colours', category: 'test', modality: 'tabular classification' },
    metric: { name: 'accuracy', direction: 'maximize' },
    target: { kind: 'text', columns: ['colour'] },
    ...{ size: '90 rows', libraries: ['numpy', 'pandas', 'scipy', 'sklearn', 'torch'], gpu: false },
  });
  expect(fingerprintOf(loadTask('colours-small', [tasks]))).toEqual({
    ...fingerprint,
    task: 'colours-small',
  });
});

test('every task of this project has a fingerprint', () => {
  const { tasks } = findTasks([join(import.meta.dirname, '../../tasks')]);
  expect(tasks.length).toBeGreaterThan(20);
  for (const task of tasks) {
    const { family, libraries, modality } = fingerprintOf(task);
    expect(task.folder.endsWith(`/${family}`)).toBe(true);
    expect(modality).not.toBe('');
    expect(libraries).toEqual(libraries.toSorted());
  }
});
