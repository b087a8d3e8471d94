import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const Packages = z.record(z.string(), z.string());
const Manifest = z.object({
  dependencies: Packages,
  devDependencies: Packages,
  peerDependencies: Packages,
});
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
      devOptional: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
      license: z.string().optional(),
      resolved: z.string().optional(),
      integrity: z.string().optional(),
    }),
  ),
});

const manifest = Manifest.parse(JSON.parse(read('package.json')));
const { packages } = Lock.parse(JSON.parse(read('package-lock.json')));
const installed = Object.entries(packages).filter(([path]) => path !== '');

test('every library is explained in a decision', () => {
  const decisions = readdirSync(join(root, 'docs/decisions')).map((file) => read(`docs/decisions/${file}`));
  const { dependencies, devDependencies, peerDependencies } = manifest;
  const names = Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies });
  const libraries = names.filter((name) => !name.startsWith('@types/'));
  const without = libraries.filter((name) => !decisions.some((text) => text.includes(name)));
  expect(without).toEqual([]);
});

test('few packages are installed with mlab', () => {
  const needed = installed.filter(([, { dev, optional, devOptional }]) => !dev && !optional && !devOptional);
  expect(needed.length).toBeLessThanOrEqual(74);
});

test('no package runs a script when it is installed with mlab', () => {
  const scripts = installed.filter(([, one]) => one.hasInstallScript && !one.dev).map(([path]) => path);
  expect(scripts).toEqual([]);
});

test('every package is pinned by its content', () => {
  const loose = installed.filter(([, one]) => one.resolved !== undefined && one.integrity === undefined);
  expect(loose.map(([path]) => path)).toEqual([]);
});

/** Licences that require no more than a notice. */
const permissive = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'PSF-2.0'];
/** Licences of development tools that do not become part of the package. */
const ofTools = [...permissive, '0BSD', 'BlueOak-1.0.0', 'Unlicense', 'MPL-2.0'];

/** `(AFL-2.1 OR BSD-3-Clause)` allows a choice; combinations by AND are listed in full where they occur. */
function allows(licences: readonly string[], expression = 'none'): boolean {
  return expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((licence) => licences.includes(licence));
}

test('every package has a licence that allows its use', () => {
  const others = installed
    .filter(([, { license, dev }]) => !allows(dev === true ? ofTools : permissive, license))
    .map(([path, { license }]) => `${path}: ${license}`);
  expect(others, 'Choose another package, or add the licence to the list after reading it.').toEqual([]);
});

test.each(['GPL-3.0', 'SEE LICENSE IN LICENSE.md', 'MIT AND GPL-2.0', undefined, 'MPL-2.0'])(
  'a package under %s would be refused',
  (licence) => {
    expect(allows(permissive, licence)).toBe(false);
  },
);
