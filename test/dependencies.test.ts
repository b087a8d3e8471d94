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
  optionalDependencies: Packages,
});
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
      devOptional: z.boolean().optional(),
      hasInstallScript: z.boolean().optional(),
      resolved: z.string().optional(),
      integrity: z.string().optional(),
    }),
  ),
});

const manifest = Manifest.parse(JSON.parse(read('package.json')));
const { packages } = Lock.parse(JSON.parse(read('package-lock.json')));
const installed = Object.entries(packages).filter(([path]) => path !== '');

test('every library has its reason in a decision', () => {
  const decisions = readdirSync(join(root, 'docs/decisions')).map((file) => read(`docs/decisions/${file}`));
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
  const libraries = names.filter((name) => !name.startsWith('@types/'));
  const without = libraries.filter((name) => !decisions.some((text) => text.includes(name)));
  expect(without).toEqual([]);
});

test('few packages are installed with mlab', () => {
  const needed = installed.filter(([, { dev, optional, devOptional }]) => !dev && !optional && !devOptional);
  expect(needed.length).toBeLessThanOrEqual(74);
});

test('no package but Node runs a script when it is installed with mlab', () => {
  const scripts = installed.filter(([, one]) => one.hasInstallScript && !one.dev).map(([path]) => path);
  expect(scripts).toEqual(['node_modules/node']);
});

test('every package is pinned by its content', () => {
  const loose = installed.filter(([, one]) => one.resolved !== undefined && one.integrity === undefined);
  expect(loose.map(([path]) => path)).toEqual([]);
});
