import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until } from '../../../test/fixtures/until.ts';
import { Background } from './background.ts';

test('the process ends after a while without jobs, even if it was started twice in advance', async () => {
  const before = childProcesses();
  using background = new Background(false, 1000);
  background.warmUp();
  expect(childProcesses()).toHaveLength(before.length + 1);
  background.warmUp();
  await until('the process ends', () => childProcesses().length === before.length, 20);
}, 30_000);

function childProcesses(): string[] {
  const tasks = '/proc/self/task';
  return readdirSync(tasks).flatMap((task) =>
    readFileSync(`${tasks}/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
}
