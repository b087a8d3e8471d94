import type { ProgramPackage } from '../../agents/index.ts';
import { UserError } from '../../lib/errors.ts';
import { ensurePython, knownPython, type PythonEnvironment } from '../../tasks/index.ts';
import { type BundleOptions, ensureNpmBundle, knownNpmBundle, type NpmBundle } from './npm-bundle.ts';

export type { BundleOptions } from './npm-bundle.ts';

/** The installed packages of a program. They are outside any sandbox; the program's sandbox sees them read-only. */
export type Bundle = NpmBundle | PythonBundle;

interface PythonBundle {
  registry: 'pypi';
  python: PythonEnvironment;
  /** The versions of all its packages, by name. */
  versions: Readonly<Record<string, string>>;
}

/**
 * The bundle of a program at a version, from the cache or newly installed there. No installed code is run.
 * @throws UserError if its packages can't be installed
 */
export async function ensureBundle(
  wanted: ProgramPackage,
  version: string,
  options: BundleOptions,
): Promise<Bundle> {
  const packages = packagesOf(wanted, version);
  if (wanted.registry === 'npm') return await ensureNpmBundle(packages, options);
  return pythonBundle(await ensurePython(packages.join('\n'), { ...options, ...pythonOptions(wanted) }));
}

/** The bundle in the cache; null if there is none. */
export async function knownBundle(
  wanted: ProgramPackage,
  version: string,
  cache: string,
): Promise<Bundle | null> {
  const packages = packagesOf(wanted, version);
  if (wanted.registry === 'npm') return knownNpmBundle(packages, cache);
  const found = await knownPython(packages.join('\n'), { cache, ...pythonOptions(wanted) });
  return found === null ? null : pythonBundle(found);
}

/** In place of a version, npm and pip would also accept an address, a file, another package or an option. */
const versions = /^[\w.+!-]{1,64}$/;

function packagesOf({ registry, name, beside = [] }: ProgramPackage, version: string): string[] {
  if (!versions.test(version))
    throw new UserError(
      'bad_version',
      `"${version}" is not a version of ${name}.`,
      'Give one as its registry lists it, such as 1.2.3.',
    );
  return [registry === 'npm' ? `${name}@${version}` : `${name}==${version}`, ...beside];
}

function pythonOptions({ python, isWhole = false }: ProgramPackage) {
  return { pythonVersion: python ?? null, isWhole };
}

function pythonBundle(python: PythonEnvironment): Bundle {
  return { registry: 'pypi', python, versions: python.packages };
}
