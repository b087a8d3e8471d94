import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createSandbox } from './create-sandbox.ts';
import { makePlace, run } from './test-support.ts';

describe('the driver none', () => {
  it.each([
    ['as its source does', 'fixed\n'],
    ['changed', 'changed by an earlier command\n'],
  ])(
    'leaves a read-only file of the workspace in place %s, with the content of its source',
    async (_, content) => {
      using place = makePlace();
      const source = place.file('starter/fixed.txt', 'fixed\n');
      const file = join(place.workspace, 'fixed.txt');
      writeFileSync(file, content);
      const { mounts, ...rest } = place.spec();
      const fixed = { source, target: '/workspace/fixed.txt', access: 'read' as const };
      const sandbox = await createSandbox('none', { ...rest, mounts: [...mounts, fixed] });
      expect(readFileSync(file, 'utf8')).toBe('fixed\n');
      await sandbox[Symbol.asyncDispose]();
      expect(readFileSync(file, 'utf8')).toBe('fixed\n');
    },
  );

  it('removes nothing but its own placeholders for a mount', async () => {
    using place = makePlace();
    place.file('workspace/data/mine.csv', '1\n');
    await expect(createSandbox('none', place.spec())).rejects.toThrow('in the way');
    expect(readFileSync(join(place.workspace, 'data/mine.csv'), 'utf8')).toBe('1\n');
  });

  it('leaves no link of an earlier mount if a later mount fails', async () => {
    using place = makePlace();
    const { mounts, ...rest } = place.spec();
    const blocked = { source: place.data, target: '/workspace/blocked', access: 'read' as const };
    place.file('workspace/blocked/mine.csv', '1\n');
    const made = createSandbox('none', { ...rest, mounts: [...mounts, blocked] });
    await expect(made).rejects.toThrow('in the way');
    expect(readdirSync(place.workspace)).toEqual(['blocked']);
  });

  it("leaves another sandbox's command alone when its own ends", async () => {
    using onePlace = makePlace();
    using otherPlace = makePlace();
    await using one = await createSandbox('none', onePlace.spec());
    await using other = await createSandbox('none', otherPlace.spec());
    const script = ': > started; until [ -e ended ]; do sleep 0.02; done';
    const longer = run(other, script);
    await vi.waitUntil(() => existsSync(join(otherPlace.workspace, 'started')), { timeout: 10_000 });
    await run(one, 'true');
    otherPlace.file('workspace/ended', '');
    expect(await longer).toMatchObject({ ending: 'exited', exitCode: 0, signal: null });
  });
});
