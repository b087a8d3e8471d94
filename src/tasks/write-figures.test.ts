import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTask, taskFields } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { loadTask } from './find-tasks.ts';
import { validateTask } from './validate-task.ts';
import { declaredMean, writeFigures } from './write-figures.ts';

const figures = { mean: 0.61, spread: 0.02, seeds: 5, seconds: 1.5 };
const baseline = { ...figures, machine: 'here: 2 cores' };
const described = { method: 'starter', description: 'the starter' };

function taskWith(fields: Record<string, unknown>) {
  const folder = makeTask(temporaryFolder(), 'colours', { fields });
  return { folder, variant: null, isSample: false };
}

describe('a task without figures', () => {
  test('can be read to measure it, and every other command says how to measure it', () => {
    const sample = { description: 'made up' };
    const task = taskWith({ baseline: described, reference: { description: 'a better one' }, sample });
    writeFileSync(join(task.folder, 'hidden/sample.py'), '');
    // Its folder need not be where tasks are looked for by their names.
    const command = `mlab tasks baseline ${task.folder}`;
    expect(validateTask(task.folder)).toMatchObject([
      { field: 'baseline', message: 'not measured yet', fix: `run ${command} --write` },
      { field: 'reference', fix: `run ${command} --reference --write` },
      { field: 'sample.baseline', fix: expect.stringContaining(`${command} --sample,`) },
      { field: 'sample.reference', fix: expect.stringContaining('--sample --reference,') },
    ]);
    expect(loadTask(task.folder, [], { toMeasure: true }).file.baseline.method).toBe('starter');
    expect(declaredMean(task, 'baseline')).toBeNull();
  });

  test('gets them as new lines, and every other line stays as it was written', () => {
    const task = taskWith({});
    const path = join(task.folder, 'task.yaml');
    const other = readFileSync(path, 'utf8').replace(/^baseline:\n(?: .*\n)*reference:\n(?: .*\n)*/m, '');
    const written = `${other}baseline:
    method:   starter
    description: the starter   # "as it is"
reference:
  description: >-
    a better
    one
limits: {steps: 3}   # few
`;
    writeFileSync(path, written);
    writeFigures(task, { baseline, reference: figures });
    const now = readFileSync(path, 'utf8');
    expect(now.split('\n').filter((line) => !written.split('\n').includes(line))).toEqual([
      ...['mean: 0.61', 'spread: 0.02', 'seeds: 5', 'seconds: 1.5'].map((line) => `    ${line}`),
      '    machine: "here: 2 cores"',
      ...['mean: 0.61', 'spread: 0.02', 'seeds: 5', 'seconds: 1.5'].map((line) => `  ${line}`),
    ]);
    expect(validateTask(task.folder)).toEqual([]);
    expect(declaredMean(task, 'reference')).toBe(0.61);
  });

  test('gets them in braces if its keys are in braces', () => {
    const task = taskWith({});
    const path = join(task.folder, 'task.yaml');
    const text = readFileSync(path, 'utf8').replace(/^reference:\n(?: .*\n)*/m, '');
    writeFileSync(path, `${text}reference: { description: better }\n`);
    writeFigures(task, { reference: figures });
    expect(loadTask(task.folder, []).file.reference).toEqual({ description: 'better', ...figures });
    const measured = { ...baseline, machine: '2 cores, of "some" kind' };
    const braces = 'baseline: { method: starter, description: it }\nreference: { description: better }\n';
    writeFileSync(path, text.replace(/^baseline:\n(?: .*\n)*/m, braces));
    for (let time = 0; time < 2; time += 1) {
      writeFigures(task, { baseline: measured, reference: figures });
      expect(loadTask(task.folder, [], { toMeasure: true }).file.baseline).toMatchObject(measured);
    }
  });
});

test('a task whose only problem is its figures can be measured again', () => {
  const { baseline: valid } = taskFields('colours') as { baseline: object };
  const { folder } = taskWith({ baseline: { ...valid, mean: 1.5, spread: 0.9 } });
  expect(validateTask(folder).map(({ field }) => field)).toEqual(['baseline.mean', 'baseline.spread']);
  expect(loadTask(folder, [], { toMeasure: true }).file.baseline.spread).toBe(0.9);
});

test('the figures of a variant are written where the variant has its own', () => {
  const { baseline: own } = taskFields('colours') as { baseline: object };
  const task = { ...taskWith({ variants: { paper: { baseline: own } } }), variant: 'paper' };
  writeFigures(task, { baseline, reference: { ...figures, mean: 0.9 } });
  const file = loadTask(task.folder, []).file;
  expect(file.baseline.mean).toBe(0.5);
  expect(file.variants.paper).toMatchObject({ baseline: { mean: 0.61 } });
  expect(file.reference.spread).toBe(0.02);
  expect(declaredMean(task, 'baseline')).toBe(0.61);
});
