import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { UserError } from '../../lib/errors.ts';
import { withFileLock } from '../../lib/file-lock.ts';
import { sha256 } from '../../lib/hash.ts';
import { openToReaders } from '../../lib/open-to-readers.ts';
import { runProcess, tail } from '../../tasks/index.ts';

export interface BundleOptions {
  /** The project's cache folder. */
  cache: string;
  onProgress: (line: string) => void;
  signal: AbortSignal;
}

export interface NpmBundle {
  registry: 'npm';
  folder: string;
  /** The versions of all its packages, by name. */
  versions: Readonly<Record<string, string>>;
}

const Ready = z.object({ folder: z.string(), versions: z.record(z.string(), z.string()) });
const Lock = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional() }).loose()),
});

/** npm would print news and requests for funding. */
const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];

/**
 * Installs npm packages in a separate folder in the cache. Their scripts are not run: packages by strangers only run in
 * the sandbox. Processes that ask for the same packages at the same time share one installation.
 * @throws UserError if npm or a package can't be had
 */
export async function ensureNpmBundle(
  packages: readonly string[],
  options: BundleOptions,
): Promise<NpmBundle> {
  const { cache, signal, onProgress } = options;
  const ready = knownNpmBundle(packages, cache);
  if (ready !== null) return ready;
  const folder = folderOf(packages, cache);
  const onWait = ({ pid }: { pid: number }) =>
    onProgress(`waiting for process ${pid}, which installs ${packages.join(', ')}`);
  return await withFileLock(join(folder, 'lock'), { signal, onWait }, async () => {
    const meanwhile = knownNpmBundle(packages, cache);
    if (meanwhile !== null) return meanwhile;
    for (const name of readdirSync(folder))
      if (name.startsWith('attempt-')) rmSync(join(folder, name), { recursive: true, force: true });
    return await install(packages, folder, options);
  });
}

/** Null: not installed, or not completely. */
export function knownNpmBundle(packages: readonly string[], cache: string): NpmBundle | null {
  try {
    const ready = Ready.parse(
      JSON.parse(readFileSync(join(folderOf(packages, cache), 'ready.json'), 'utf8')),
    );
    readdirSync(ready.folder);
    return { registry: 'npm', ...ready };
  } catch {
    return null;
  }
}

function folderOf(packages: readonly string[], cache: string): string {
  const [first = ''] = packages;
  const name = first.replaceAll(/[^\w.-]+/g, '-').replace(/^-/, '');
  const identity = JSON.stringify([packages, process.platform, process.arch]);
  return join(cache, 'agents', `${name}-${sha256(identity).slice(0, 8)}`);
}

async function install(
  packages: readonly string[],
  folder: string,
  { signal, onProgress }: BundleOptions,
): Promise<NpmBundle> {
  onProgress(`installing ${packages.join(', ')} from npm`);
  const bundle = join(folder, `attempt-${randomBytes(4).toString('hex')}`);
  const log = join(folder, 'install.log');
  mkdirSync(bundle, { recursive: true });
  writeFileSync(join(bundle, 'package.json'), '{ "private": true }\n');
  const result = await runProcess(
    'npm',
    ['install', '--ignore-scripts', '--save-exact', ...quiet, ...packages],
    {
      workingDirectory: bundle,
      variables: npmVariables(),
      signal,
      onOutput: (chunk) => appendFileSync(log, chunk),
    },
  ).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new UserError(
      'no_npm',
      `npm can't be started: ${String(error)}`,
      'Install Node.js with npm, and add npm to PATH.',
    );
  });
  if (result.exitCode !== 0) {
    throw new UserError(
      'no_package',
      `npm could not install ${packages.join(', ')}:\n${tail(result.output)}`,
      `Check the version and the network. The log is ${log}`,
    );
  }
  await openToReaders(bundle);
  const ready = { folder: bundle, versions: versionsIn(bundle) };
  writeFileAtomically(join(folder, 'ready.json'), `${JSON.stringify(ready, null, 2)}\n`);
  return { registry: 'npm', ...ready };
}

/** The user's npm settings: registries, proxies, certificates. */
function npmVariables(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function versionsIn(bundle: string): Record<string, string> {
  const { packages } = Lock.parse(JSON.parse(readFileSync(join(bundle, 'package-lock.json'), 'utf8')));
  return Object.fromEntries(
    Object.entries(packages).flatMap(([path, { version }]) => {
      const name = path.split('node_modules/').at(-1) ?? '';
      return name === '' || version === undefined ? [] : [[name, version]];
    }),
  );
}
