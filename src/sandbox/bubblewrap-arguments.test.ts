import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bubblewrapArguments, outermostFirst } from './bubblewrap-arguments.ts';
import { mountOption, mountsOf } from './docker-arguments.ts';
import { makePlace } from './test-support.ts';

const runtime = { systemFiles: [{ source: '/r/etc/passwd', target: '/etc/passwd' }], emptyFile: '/r/empty' };
const features = { disableUserNamespaces: true };
const name = fc.stringMatching(/^[a-z]{1,3}$/);
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => `/${names.join('/')}`);

describe('the order of what is laid over what', () => {
  it('puts every path after all the folders that it lies in, and loses none', () => {
    fc.assert(
      fc.property(fc.array(path), (paths) => {
        const sorted = outermostFirst(paths.map((each) => ({ path: each }))).map((item) => item.path);
        expect([...sorted].sort()).toEqual([...paths].sort());
        for (const [index, later] of sorted.entries()) {
          for (const earlier of sorted.slice(0, index)) expect(earlier.startsWith(`${later}/`)).toBe(false);
        }
      }),
    );
  });

  it('keeps the given order among equals', () => {
    const items = [
      { path: '/a', name: 1 },
      { path: '/a', name: 2 },
    ];
    expect(outermostFirst(items)).toEqual(items);
  });
});

describe('the arguments of bubblewrap', () => {
  it('mount nested targets after what they are nested in, in whatever order they were named', () => {
    using place = makePlace();
    const spec = place.spec();
    fc.assert(
      fc.property(fc.shuffledSubarray(spec.mounts, { minLength: 2 }), (mounts) => {
        const words = bubblewrapArguments({ ...spec, mounts }, runtime, features);
        const outer = words.findIndex((word, i) => word === '--bind' && words[i + 2] === '/workspace');
        const inner = words.findIndex(
          (word, i) => word === '--ro-bind' && words[i + 2] === '/workspace/data',
        );
        expect(outer).toBeGreaterThan(0);
        expect(inner).toBeGreaterThan(outer);
      }),
    );
  });

  it('lay what hides over all mounts, and make the root read-only last of all', () => {
    using place = makePlace();
    place.file('data/sub/secret.csv', '');
    const spec = place.spec({
      hide: ['/workspace/data/sub', '/workspace/data/train.csv', '/workspace/data/absent'],
    });
    const words = bubblewrapArguments(spec, runtime, features);
    const lastMount = words.lastIndexOf('/workspace/data');
    expect(words.indexOf('/workspace/data/sub')).toBeGreaterThan(lastMount);
    expect(words[words.indexOf('/workspace/data/train.csv') - 1]).toBe('/r/empty');
    expect(words).not.toContain('/workspace/data/absent');
    const closed = words.flatMap((word, i) => (word === '--remount-ro' ? [words[i + 1]] : []));
    expect(closed.at(-1)).toBe('/');
    expect(closed).toEqual(expect.arrayContaining(['/proc', '/dev', '/workspace/data/sub']));
  });

  it('grant no graphics card that was not asked for', () => {
    using place = makePlace();
    expect(bubblewrapArguments(place.spec(), runtime, features).join(' ')).not.toMatch(/nvidia|dev-bind/);
  });

  it("let no variable of the spec take the place of the driver's own", () => {
    using place = makePlace();
    const words = bubblewrapArguments(
      place.spec({ variables: { PATH: '/evil', SEED: '1' } }),
      runtime,
      features,
    );
    expect(words.join(' ')).toContain('--setenv SEED 1');
    expect(words).not.toContain('/evil');
  });
});

describe('the mounts of a container', () => {
  const facts = {
    isPodman: false,
    user: { uid: 1, gid: 1 },
    image: null,
    seccompProfile: '/r/seccomp.json',
    emptyFolder: '/r/nothing',
    emptyFile: '/r/empty',
    systemFiles: [],
  };

  it('name every target once, with what hides in place of what is hidden', () => {
    using place = makePlace();
    place.file('data/sub/secret.csv', '');
    const spec = place.spec({ hide: ['/workspace/data/sub', '/workspace/data/train.csv'] });
    spec.mounts.push({ source: place.data, target: '/workspace/data/sub/nested', access: 'read' });
    const mounts = mountsOf(spec, facts);
    const targets = mounts.map(({ target }) => target);
    expect(new Set(targets).size).toBe(targets.length);
    expect(targets).not.toContain('/workspace/data/sub/nested');
    expect(mounts).toContainEqual({ source: '/r/nothing', target: '/workspace/data/sub', access: 'read' });
  });

  it('are written so that no path can pass for an option', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (odd) => {
        const option = mountOption({ source: join('/', odd), target: '/t', access: 'read' });
        const fields = [...option.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"\n]*))/g)];
        expect(fields.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain)).toEqual([
          ...['type=bind', `source=${join('/', odd)}`, 'target=/t', 'readonly'],
        ]);
      }),
    );
  });
});
