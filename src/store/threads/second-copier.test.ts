import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/store/folders.ts';
import { ObjectStore } from '../object-store.ts';
import { SnapshotTaker } from '../snapshot-taker.ts';
import { secondCopier } from './second-copier.ts';

test('two threads copy a workspace; files that were changed or removed meanwhile are as in the snapshot', async () => {
  using parent = temporaryFolder();
  using child = temporaryFolder();
  using store = temporaryFolder();
  const paths = Array.from({ length: 400 }, (_, number) => `part-${number % 5}/${number}.txt`);
  for (const path of paths) {
    mkdirSync(join(parent.path, path, '..'), { recursive: true });
    writeFileSync(join(parent.path, path), `content of ${path}`, { mode: 0o750 });
    utimesSync(join(parent.path, path), 1_000_000, 1_000_000);
  }
  const objects = new ObjectStore(store.path);
  const original = new SnapshotTaker(objects, parent.path);
  await setTimeout(100);
  const { id } = await original.take();
  for (const path of paths.slice(0, 20)) writeFileSync(join(parent.path, path), 'changed since');
  for (const path of paths.slice(20, 40)) rmSync(join(parent.path, path));

  await vi.waitUntil(() => secondCopier.isFree, { timeout: 20_000 });
  const copy = vi.spyOn(secondCopier, 'copy');
  const taker = new SnapshotTaker(objects, child.path);
  await taker.restore(id, { ignore: [], from: original });
  const handedOver = copy.mock.calls.flatMap(([{ files }]) => files.map(({ name }) => name));
  expect(handedOver.length).toBeGreaterThan(0);
  expect(await taker.take({ full: true })).toMatchObject({ id, changed: [], skipped: [] });
  for (const path of paths) {
    expect(readFileSync(join(child.path, path), 'utf8')).toBe(`content of ${path}`);
    expect(statSync(join(child.path, path)).mode & 0o777).toBe(0o750);
  }
});
