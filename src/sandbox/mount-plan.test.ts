import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planMounts } from './mount-plan.ts';
import type { Mount, SandboxSpec } from './sandbox.ts';
import { makePlace } from './test-support.ts';

const own = {
  etc: (): Mount[] => [{ source: '/r/etc', target: '/etc', access: 'read' }],
  emptyFile: () => '/r/empty',
  emptyFolder: (places: readonly { path: string }[]) =>
    ['/r/nothing', ...places.map(({ path }) => path)].join(':'),
};
const plan = async (spec: SandboxSpec) => await planMounts(spec, 'host', own);
describe('the mounts of a sandbox', () => {
  it('come after the mounts that contain them, in whatever order they were named', async () => {
    using place = makePlace();
    const spec = place.spec();
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(spec.mounts, { minLength: 2 }), async (mounts) => {
        const targets = (await plan({ ...spec, mounts })).map(({ target }) => target);
        expect(targets.indexOf('/workspace')).toBeGreaterThanOrEqual(0);
        expect(targets.indexOf('/workspace/data')).toBeGreaterThan(targets.indexOf('/workspace'));
      }),
      { numRuns: 5 },
    );
  });

  it('name every target once, with covers in place of hidden files', async () => {
    using place = makePlace();
    place.file('data/sub/secret.csv', '');
    const hide = ['/workspace/data/sub', '/workspace/data/train.csv', '/workspace/data/absent'];
    const spec = place.spec({ hide });
    spec.mounts.push({ source: place.data, target: '/workspace/data/sub/nested', access: 'read' });
    const mounts = await plan(spec);
    const targets = mounts.map(({ target }) => target);
    expect(new Set(targets).size).toBe(targets.length);
    expect(targets).not.toContain('/workspace/data/sub/nested');
    expect(targets).not.toContain('/workspace/data/absent');
    expect(mounts).toContainEqual({ source: '/r/nothing', target: '/workspace/data/sub', access: 'read' });
    expect(mounts).toContainEqual({
      source: '/r/empty',
      target: '/workspace/data/train.csv',
      access: 'read',
    });
  });
});
