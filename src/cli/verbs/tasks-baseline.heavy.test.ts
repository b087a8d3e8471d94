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

/** The example of the guide, before its figures are measured. */
function unmeasuredExample(): string {
  const folder = join(scratch, 'line');
  const files = readFileSync(page, 'utf8').matchAll(/^`([\w./]+)`:\n\n```\w+\n(.*?)^```$/gms);
  for (const [, path = '', content = ''] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const figures = /^ {2}(?:mean|spread|seeds|seconds|machine): .*\n/gm;
    writeFileSync(join(folder, path), path === 'task.yaml' ? content.replaceAll(figures, '') : content);
  }
  writeFileSync(join(folder, 'requirements.txt'), '');
  return folder;
}

test('the example of the guide is prepared, measured and checked without figures made up before', async () => {
  const folder = unmeasuredExample();
  const refused = await mlab('tasks', 'check', folder);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain('not measured yet');
  expect(await mlab('prepare', folder)).toMatchObject({ code: 0 });
  const measure = ['tasks', 'baseline', folder, '--write', '--seeds', '2'];
  const baseline = await mlab(...measure);
  expect(baseline.code, baseline.stderr).toBe(0);
  expect(baseline.stdout).not.toContain('Remark');
  expect(await mlab(...measure, '--reference')).toMatchObject({ code: 0 });
  expect(loadTask(folder, []).file).toMatchObject({ baseline: { mean: 5.36422, spread: 0 } });
  const checked = await mlab('tasks', 'check', folder, '--only', 'noop,oracle,baseline,reference-score');
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
});
