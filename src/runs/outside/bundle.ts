import type { ProgramPackage } from '../../agents/index.ts';
import { UserError } from '../../lib/errors.ts';
import { ensurePython, knownPython, type PythonEnvironment } from '../../tasks/index.ts';
import { type BundleOptions, ensureNpmBundle, knownNpmBundle, type NpmBundle } from './npm-bundle.ts';

export type { BundleOptions } from './npm-bundle.ts';

/** What is installed of a program, outside of any sandbox, and shown to its sandbox read-only. */
export type Bundle = NpmBundle | PythonBundle;

interface PythonBundle {
  registry: 'pypi';
  python: PythonEnvironment;
  /** Of all packages in it, by name. */
  versions: Readonly<Record<string, string>>;
}

/**
 * The bundle of a program at a version: from the cache, or installed into it. Nothing of what is installed is run.
 * @throws UserError where its packages can't be had
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

/** The bundle that is there; null where there is none. */
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

/** To npm, and to pip, what stands for a version may be an address, a file, another package or an option. */
const versions = /^[\w.+!-]{1,64}$/;

function packagesOf({ registry, name, beside = [] }: ProgramPackage, version: string): string[] {
  if (!versions.test(version))
    throw new UserError(
      'bad_version',
      `"${version}" is no version of ${name}.`,
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
