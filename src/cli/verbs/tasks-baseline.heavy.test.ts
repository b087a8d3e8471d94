import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { mlab } from '../../../test/fixtures/mlab-command.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import { loadTask } from '../../tasks/index.ts';

const scratch = mkdtempSync(join(tmpdir(), 'mlab-measured-'));
afterAll(() => removeTree(scratch));

const page = join(import.meta.dirname, '../../../docs/how-to/write-a-task.md');

const guide = readFileSync(page, 'utf8');

function taskOf(name: string, files: Record<string, string>): string {
  const folder = join(scratch, name);
  for (const [path, content] of Object.entries({ ...files, 'requirements.txt': '' })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** The example of the guide, before its figures are measured. */
function unmeasuredExample(): string {
  const figures = /^ {2}(?:mean|spread|seeds|seconds|machine): .*\n/gm;
  const files = guide.matchAll(/^`([\w./]+)`:\n\n```\w+\n(.*?)^```$/gms);
  const contents = [...files].map(([, path = '', content = '']) => [
    path,
    path === 'task.yaml' ? content.replaceAll(figures, '') : content,
  ]);
  return taskOf('line', Object.fromEntries(contents));
}

/** The guide's grader that measures time, with the parts of its task.yaml, and scripts for it. */
function timedExample(): string {
  const [, section = ''] = guide.split('### A grader that measures time\n');
  const [, grader = '', declared = ''] = /```python\n(.*?)^```$.*?```yaml\n(.*?)^```$/ms.exec(section) ?? [];
  const facts = [
    'schema: 1',
    'id: pairs',
    'title: t',
    'category: c',
    'modality: m',
    'summary: s',
    'problem: p',
  ];
  return taskOf('pairs', {
    'task.yaml': [...facts, 'reference: { description: d }', declared].join('\n'),
    'hidden/grade.py': grader,
    'hidden/prepare.py': '',
    'env/train.py':
      'def count_pairs(values, total):\n' +
      '    return sum(a + b == total for at, a in enumerate(values) for b in values[:at])\n',
    'hidden/solution/train.py':
      'def count_pairs(values, total):\n    seen, count = {}, 0\n    for value in values:\n' +
      '        count += seen.get(total - value, 0)\n        seen[value] = seen.get(value, 0) + 1\n    return count\n',
  });
}

test('the example of the guide is prepared, measured and checked without invented figures', async () => {
  const folder = unmeasuredExample();
  const refused = await mlab('tasks', 'check', folder);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain('not measured yet');
  expect((await mlab('tasks', 'show', folder)).stdout).toMatch(/baseline +not measured yet: /);
  expect(await mlab('prepare', folder)).toMatchObject({ code: 0 });
  const measure = ['tasks', 'baseline', folder, '--write', '--seeds', '3'];
  const kept = join(scratch, 'experiments');
  const baseline = await mlab(...measure, '--keep', '--dir', kept);
  expect(baseline.code, baseline.stderr).toBe(0);
  expect(baseline.stdout).not.toContain('Caveat');
  expect(baseline.stderr).toMatch(/line: it printed\n {4}\S/);
  const runs = await mlab('runs', 'ls', 'measure-line-starter', '--dir', kept, '--json');
  expect(JSON.parse(runs.stdout).runs).toMatchObject(Array(3).fill({ status: 'finished' }));
  const reference = await mlab(...measure, '--reference');
  expect(reference).toMatchObject({ code: 0 });
  expect(reference.stdout).toMatch(/^Improvement over the baseline of task\.yaml: \+[\d.]+ %$/m);
  expect(loadTask(folder, []).file).toMatchObject({ baseline: { mean: 5.36422, spread: 0 } });
  const checked = await mlab('tasks', 'check', folder, '--only', 'noop,oracle,baseline,reference-score');
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
});

test('a task that uses no GPU is not measured on one', async () => {
  const refused = await mlab('tasks', 'baseline', 'digits', '--sample', '--gpu');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('the task digits uses no GPU');
});

test('the timing grader of the guide distinguishes a fast solution from the starter', async () => {
  const folder = timedExample();
  const measure = ['tasks', 'baseline', folder, '--write', '--seeds', '1'];
  for (const flags of [[], ['--reference']]) {
    const measured = await mlab(...measure, ...flags);
    expect(measured.code, measured.stderr).toBe(0);
    const tells = /^Improvement over the starter, which scored [\d.]+ in the same gradings: \+[\d.]+ %$/m;
    expect(tells.test(measured.stdout)).toBe(flags.length > 0);
  }
  const { baseline, reference } = loadTask(folder, []).file;
  expect(reference.mean).toBeLessThan(baseline.mean / 2);
});
