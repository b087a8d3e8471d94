import { chmodSync, linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeDeepFolder } from '../../test/fixtures/deep-folder.ts';
import { folderSize } from './folder-size.ts';
import { makePlace } from './test-support.ts';

const far = Number.POSITIVE_INFINITY;

describe('the size of a folder', () => {
  it('is that of its files at any depth', async () => {
    using place = makePlace();
    place.file('workspace/a/b/c.bin', 'x'.repeat(1_000_000));
    const size = await folderSize(place.workspace, far);
    expect(size).toBeGreaterThanOrEqual(1_000_000);
    expect(size).toBeLessThan(1_100_000);
  });

  it('counts sparse files in full, hard links once and empty files a little, and follows no link', async () => {
    using place = makePlace();
    const sparse = place.file('workspace/sparse', '');
    truncateSync(sparse, 5_000_000);
    linkSync(sparse, join(place.workspace, 'again'));
    symlinkSync('/usr', join(place.workspace, 'usr'));
    const before = await folderSize(place.workspace, far);
    expect(before).toBeGreaterThanOrEqual(5_000_000);
    expect(before).toBeLessThan(5_100_000);
    for (let i = 0; i < 1000; i++) place.file(`workspace/empty-${i}`, '');
    expect(await folderSize(place.workspace, far)).toBeGreaterThan(before + 200_000);
  });

  it('counts a little for every name of a file, and yields to the event loop', async () => {
    using place = makePlace();
    const file = place.file('workspace/one', 'x');
    for (let i = 0; i < 5_000; i++) linkSync(file, join(place.workspace, `again-${i}`));
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    expect(await folderSize(place.workspace, far)).toBeGreaterThan(5_000 * 2_000);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });

  it('is 0 for a missing folder, and at least the given limit when it stops early', async () => {
    using place = makePlace();
    expect(await folderSize(join(place.root, 'gone'), far)).toBe(0);
    place.file('workspace/one', 'x'.repeat(10_000));
    expect(await folderSize(place.workspace, 5_000)).toBeGreaterThan(5_000);
  });

  it.skipIf(process.platform !== 'linux')('counts files under names of any bytes, at any depth', async () => {
    using place = makePlace();
    mkdirSync(Buffer.from(`${place.workspace}/\xff`, 'latin1'));
    writeFileSync(Buffer.from(`${place.workspace}/\xff/caf\xe9`, 'latin1'), Buffer.alloc(5_000_000));
    const before = await folderSize(place.workspace, far);
    expect(before).toBeGreaterThanOrEqual(5_000_000);
    makeDeepFolder(place.workspace, { levels: 3_000, nameBytes: 255, content: 10_000 });
    const size = await folderSize(place.workspace, far);
    expect(size - before).toBeGreaterThanOrEqual(3_000 * 10_000);
    expect(size).toBeLessThan(far);
  });

  it('is infinite where it cannot be walked', async (context) => {
    if (process.getuid?.() === 0) context.skip('root walks everywhere');
    using place = makePlace();
    const closed = join(place.workspace, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0);
    expect(await folderSize(place.workspace, far)).toBe(far);
    chmodSync(closed, 0o700);
  });
});
