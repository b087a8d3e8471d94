import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import * as reference from '../../scripts/write-reference-docs.ts';
import { folder, schemas } from '../../scripts/write-schemas.ts';

const root = join(import.meta.dirname, '../..');

function accepted(schema: string, content: unknown): boolean {
  const json = JSON.parse(schemas().get(schema) ?? '');
  return z.fromJSONSchema(json).safeParse(content).success;
}

describe('the schemas for editors', () => {
  test('are those of this version', () => {
    expect(readdirSync(folder).sort()).toEqual([...schemas().keys()]);
    for (const [name, text] of schemas())
      expect(readFileSync(join(folder, name), 'utf8'), 'run: npm run node scripts/write-schemas.ts').toBe(
        text,
      );
  });

  test('accept every task of the project, and no misspelt key', () => {
    const files = readdirSync(join(root, 'tasks'))
      .filter((name) => !name.startsWith('.'))
      .map((name) => parse(readFileSync(join(root, 'tasks', name, 'task.yaml'), 'utf8')));
    expect(files.length).toBeGreaterThan(20);
    for (const file of files) expect(accepted('task.schema.json', file), file.id).toBe(true);
    expect(accepted('task.schema.json', { ...files[0], basline: {} })).toBe(false);
  });

  test('accept a task whose figures are not measured yet', () => {
    const file = parse(readFileSync(join(root, 'tasks/digits/task.yaml'), 'utf8'));
    const baseline = { method: 'starter', description: 'a linear model' };
    const unmeasured = { ...file, baseline, reference: { description: 'boosted trees' } };
    expect(accepted('task.schema.json', unmeasured)).toBe(true);
    expect(accepted('task.schema.json', { ...unmeasured, reference: {} })).toBe(false);
  });

  test('accept the experiment files of the docs, and no misspelt key', () => {
    const folder = join(root, 'docs/how-to');
    const files = ['automl-ablation.yaml', 'tree-beside-others.yaml'].map((name) =>
      parse(readFileSync(join(folder, name), 'utf8')),
    );
    for (const file of files) expect(accepted('experiment.schema.json', file)).toBe(true);
    expect(accepted('experiment.schema.json', { tasks: ['digits'], agent: ['tools'] })).toBe(false);
  });
});

test('docs/reference shows the keys and events of this version', () => {
  expect(readdirSync(reference.folder).sort()).toEqual([...reference.pages().keys()].sort());
  for (const [name, text] of reference.pages())
    expect(
      readFileSync(join(reference.folder, name), 'utf8'),
      'run: npm run node scripts/write-reference-docs.ts',
    ).toBe(text);
});
