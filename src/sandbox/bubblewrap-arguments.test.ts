import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sandboxArguments } from './bubblewrap-arguments.ts';
import { mountOption } from './docker-arguments.ts';
import { outermostFirst } from './mount-plan.ts';
import type { SandboxSpec } from './sandbox.ts';
import { makePlace } from './test-support.ts';

const argumentsOf = (spec: SandboxSpec) =>
  sandboxArguments(spec, spec.mounts, { disableUserNamespaces: true, switchesUser: false }, 5);
const name = fc.stringMatching(/^[a-z]{1,3}$/);
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => `/${names.join('/')}`);

describe('the order of mounts', () => {
  it('puts every path after all folders that contain it, and omits none', () => {
    fc.assert(
      fc.property(fc.array(path), (paths) => {
        const sorted = outermostFirst(paths, (each) => each);
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
    expect(outermostFirst(items, (item) => item.path)).toEqual(items);
  });
});

describe('the arguments of bubblewrap', () => {
  it('make /proc, the devices and the root read-only last', () => {
    using place = makePlace();
    const words = argumentsOf(place.spec());
    const closed = words.flatMap((word, i) => (word === '--remount-ro' ? [words[i + 1]] : []));
    expect(closed).toEqual(['/proc', '/dev', '/']);
    expect(words.indexOf('--remount-ro')).toBeGreaterThan(words.lastIndexOf('--ro-bind'));
  });

  it('mount a path within a temporary folder after that', () => {
    using place = makePlace();
    const spec = place.spec();
    spec.mounts.push({ source: '/opt/python', target: '/tmp/a/python', access: 'read' });
    const words = argumentsOf(spec).join(' ');
    expect(words).toMatch(/--tmpfs \/tmp .*--dir \/tmp\/a .*--ro-bind \/opt\/python \/tmp\/a\/python/);
  });

  it('grant no GPU that was not requested', () => {
    using place = makePlace();
    expect(argumentsOf(place.spec()).join(' ')).not.toMatch(/nvidia|dev-bind/);
  });

  it("let no variable of the spec replace one of the driver's", () => {
    using place = makePlace();
    const words = argumentsOf(place.spec({ variables: { PATH: '/evil', SEED: '1' } }));
    expect(words.join(' ')).toContain('--setenv SEED 1');
    expect(words).not.toContain('/evil');
  });
});

describe('the mounts of a container', () => {
  it('are written so that no path can be read as an option', () => {
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
