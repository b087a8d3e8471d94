import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchedFolder } from './folder-watch.ts';
import { makePlace } from './test-support.ts';
import { type Breach, Watchdog } from './watchdog.ts';

test('a workspace of many files is measured as soon as it may be full', async () => {
  using place = makePlace();
  mkdirSync(join(place.workspace, 'many'));
  for (let number = 0; number < 15_000; number += 1)
    writeFileSync(join(place.workspace, 'many', `${number}`), '');
  const folder = watchedFolder({ folder: place.workspace, maxBytes: 32 * 2 ** 20 });
  const breaches: { breach: Breach; at: number }[] = [];
  const watchdog = new Watchdog({ processes: () => [], folder, sums: null }, (breach) => {
    breaches.push({ breach, at: performance.now() });
  });
  // The first measurement is over, and the pause after it would be many times as long.
  const first = performance.now();
  await watchdog.settle();
  const look = performance.now() - first;
  await sleep(3 * look + 300);
  writeFileSync(join(place.workspace, 'large'), Buffer.alloc(64 * 2 ** 20, 1));
  const start = performance.now();
  while (breaches.length === 0 && performance.now() - start < 20 * look + 5_000) await sleep(20);
  await watchdog.stop();
  expect(breaches.map(({ breach }) => breach)).toEqual(['workspace_full']);
  expect((breaches[0]?.at ?? 0) - start).toBeLessThan(6 * look + 1_000);
});
