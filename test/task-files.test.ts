import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { TaskFile } from '../src/schema/index.ts';
import { readRequirements, withLock } from '../src/tasks/index.ts';

const tasks = new URL('../tasks/', import.meta.url);
const read = (path: string, base: URL = tasks) => readFileSync(new URL(path, base), 'utf8');
const ids = readdirSync(tasks, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && !entry.name.startsWith('.') ? [entry.name] : [],
);

/** Relative gain over the baseline, positive if it is better. */
function improvement(task: TaskFile): number {
  const { baseline, reference, metric } = task;
  const sign = metric.direction === 'maximize' ? 1 : -1;
  return (sign * (reference.mean - baseline.mean)) / Math.abs(baseline.mean);
}

describe.each(ids)('tasks/%s', (id) => {
  const task = TaskFile.parse(parse(read(`${id}/task.yaml`)));

  it('has the name of its folder', () => {
    expect(task.id).toBe(id);
  });

  it('has a reference solution that succeeds beyond twice the noise of the baseline', () => {
    const noise = task.baseline.spread / Math.abs(task.baseline.mean);
    expect(improvement(task)).toBeGreaterThan(task.success.threshold + 2 * noise);
  });

  it('pins every package', () => {
    for (const line of read(`${id}/requirements.txt`).split('\n').filter(Boolean)) {
      expect(line).toMatch(/^[\w-]+==[\w.]+(; python_version (<|>=) "3\.\d+")?$/);
    }
  });
});

it.each(ids)('%s has a lock with the hashes of all its packages except torch', (id) => {
  const requirements = read(`${id}/requirements.txt`);
  const locked = readRequirements(withLock(fileURLToPath(tasks), requirements));
  const without = [...locked].filter(([, hashes]) => hashes === '').map(([line]) => line);
  expect(
    without.filter((line) => !line.startsWith('torch==')),
    'run: npm run node scripts/lock-requirements.ts',
  ).toEqual([]);
});

it('tasks of the same packages share one environment', () => {
  expect(read('digits/requirements.txt')).toBe(read('diabetes/requirements.txt'));
  expect(read('house-price/requirements.txt')).toBe(read('spaceship-titanic/requirements.txt'));
});

it('the example in docs/how-to/write-a-task.md is a valid task.yaml', () => {
  const page = read('../docs/how-to/write-a-task.md');
  const example = /^`task\.yaml`:\n\n```yaml\n(.*?)^```$/ms.exec(page)?.[1] ?? '';
  expect(TaskFile.parse(parse(example)).id).toBe('line');
});
