import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { mlab } from '../../../test/fixtures/mlab-command.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import { madeUpFigures } from '../../tasks/index.ts';

const scratch = mkdtempSync(join(tmpdir(), 'mlab-new-task-'));
afterAll(() => removeTree(scratch));

test('a task made from a table with classes, gaps, texts and odd names passes tasks check', async () => {
  const rows = Array.from({ length: 240 }, (_, row) => {
    const [age, plan] = [18 + ((row * 37) % 60), ['basic', 'pro', ''][(row * 7) % 3]];
    const leaves = age < 35 !== (plan === 'pro') ? 'yes, "soon"' : 'NA';
    return `${row},${row % 11 === 0 ? '' : age},${plan},${(row * 53) % 17},"${leaves.replaceAll('"', '""')} "`;
  });
  const csv = join(scratch, 'customers.csv');
  writeFileSync(csv, ['id,age,"plan ""now""",größe,will leave?', ...rows, ''].join('\n'));
  const made = await mlab(
    ...['tasks', 'new', 'churn', '--csv', csv, '--target', 'will leave?', '--into', scratch, '--json'],
  );
  expect(made.code, made.stderr).toBe(0);
  const { folder, baseline, reference } = JSON.parse(made.stdout);
  expect(baseline.seeds).toBe(3);
  expect(reference.mean).toBeGreaterThan(0.5);
  const names =
    'noop,baseline,oracle,hidden-values,row-order,same-data,baseline-score,reference-score,row-shuffle';
  const checked = await mlab('tasks', 'check', folder, '--only', names);
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  const again = await mlab(
    'tasks',
    'new',
    'churn',
    '--csv',
    csv,
    '--target',
    'will leave?',
    '--into',
    scratch,
  );
  expect(again).toMatchObject({ code: 2 });
  expect(again.stderr).toContain('already exists');
});

test('the made-up table gives the figures that mlab init writes', async () => {
  const made = await mlab('tasks', 'new', 'rents', '--into', scratch, '--json');
  expect(made.code, made.stderr).toBe(0);
  const measured = JSON.parse(made.stdout);
  for (const part of ['baseline', 'reference'] as const) {
    const { mean, spread } = madeUpFigures[part];
    expect(Math.abs(measured[part].mean - mean)).toBeLessThan(spread);
  }
});
