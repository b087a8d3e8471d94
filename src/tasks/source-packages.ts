import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { sha256OfFile } from '../lib/hash.ts';
import type { Build } from '../schema/index.ts';
import { download } from './download.ts';
import { type Builder, compilePackages, executableOf, run } from './install-packages.ts';
import { packageOf } from './requirements.ts';
import { tail } from './run-process.ts';
import { type Uv, uvSettings, uvVariables } from './uv.ts';

/** A virtual environment and the installation that it was made from. */
interface ToolsEnvironment {
  environment: string;
  basePrefix: string;
}

export interface WheelRequest {
  /** Absolute path of the source package. */
  source: string;
  /** Absolute path of an empty folder for the wheel. */
  wheels: string;
  /** With pip and the task's tools. */
  python: ToolsEnvironment;
  onOutput: (chunk: Buffer) => void;
  signal: AbortSignal | null;
}

interface WheelResult {
  /** Null if it was ended. */
  exitCode: number | null;
  /** What it printed; the end of it. */
  output: string;
}

/** Runs the code of a source package to build its wheel: confined, and without a network. */
export type BuildWheel = (request: WheelRequest) => Promise<WheelResult>;

export interface SourceBuild extends Build {
  buildWheel: BuildWheel;
}

/**
 * Builds packages from source and installs them, without their dependencies. Outside the sandbox none of their code
 * runs, neither for finding a source package nor for installing its wheel.
 * @param requirements the pins of these packages, with hashes if there is a lock
 * @param tools the environment that builds them
 * @throws UserError
 */
export async function installFromSource(
  builder: Builder,
  environment: string,
  folder: string,
  requirements: ReadonlyMap<string, string>,
  { tools, buildWheel }: { tools: ToolsEnvironment; buildWheel: BuildWheel },
): Promise<void> {
  const uv = await builder.uv();
  if (uv === null)
    throw new UserError(
      'no_package',
      `packages are built from source only with uv, which can't be installed here`,
      'let pip install uv, or build the wheels, name their folder in PIP_FIND_LINKS, and delete "build" in task.yaml',
    );
  for (const [pin, hashes] of requirements) {
    const name = packageOf(pin);
    const home = join(folder, 'build', name);
    const wheels = join(home, 'wheels');
    mkdirSync(wheels, { recursive: true });
    const source = await fetchSource(builder, uv, home, { pin, hashes, python: executableOf(environment) });
    if (source === null) continue;
    builder.onProgress?.(`building ${name} in a sandbox`);
    const built = await buildWheel({
      ...{ source, wheels, python: tools, signal: builder.signal ?? null },
      onOutput: builder.record,
    });
    const wheel = wheelIn(wheels, pin);
    if (built.exitCode !== 0 || wheel === null) throw buildFailed(builder, pin, built);
    await installWheel(builder, uv, environment, wheel);
  }
  await compilePackages(builder, environment);
}

interface Wanted {
  pin: string;
  /** Of a lock; may be empty. */
  hashes: string;
  /** The Python that will run the package. */
  python: string;
}

/**
 * The source package of a pinned version, from where uv finds packages; null if the pin is for other Pythons. Asked
 * without dependencies, uv does not run the package's code.
 */
async function fetchSource(
  builder: Builder,
  uv: Uv,
  home: string,
  { pin, hashes, python }: Wanted,
): Promise<string | null> {
  const asked = join(home, 'requirements.txt');
  writeFileSync(asked, `${pin}\n`);
  const lock = join(home, 'pylock.toml');
  const variables = await uvVariables(uv, builder.variables, builder.signal ?? null);
  const found = await run(
    builder,
    uv.executable,
    [
      ...['pip', 'compile', '--quiet', '--no-deps', '--no-binary', packageOf(pin), '--python', python],
      ...['--no-config', '--format', 'pylock.toml', '-o', lock],
      ...[...uvSettings(uv, variables), asked],
    ],
    variables,
  );
  const told = found.exitCode === 0 ? readFileSync(lock, 'utf8') : '';
  if (found.exitCode === 0 && !told.includes('[[packages]]')) return null;
  const place = sourceIn(told);
  if (place === null)
    throw new UserError(
      'no_package',
      `there is no source package of ${pin}:\n${tail(found.output)}`,
      `delete "${packageOf(pin)}" under build.packages in task.yaml if the version has a wheel; log: ${builder.log}`,
    );
  const file = join(home, place.file);
  await fetchTo(file, place.url, builder);
  const sha256 = await sha256OfFile(file);
  const isLocked = hashes === '' || hashes.includes(sha256);
  if (isLocked && (place.sha256 === null || place.sha256 === sha256)) return file;
  throw new UserError(
    'wrong_checksum',
    `${place.file} is not the expected file: its SHA-256 is ${sha256}`,
    `check where packages come from (PIP_INDEX_URL, \`pip config list\`) and the task's lock file; log: ${builder.log}`,
  );
}

async function fetchTo(file: string, url: string, builder: Builder): Promise<void> {
  if (url.startsWith('file:')) {
    copyFileSync(new URL(url), file);
    return;
  }
  builder.onProgress?.(`downloading ${basename(file)}`);
  try {
    await download({ url, destination: file, signal: builder.signal ?? null });
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    const hint = `try again, or put ${basename(file)} into a folder that you name in PIP_FIND_LINKS; log: ${builder.log}`;
    throw new UserError(error.code, error.message, hint, { cause: error });
  }
}

interface SourcePlace {
  url: string;
  /** Name of the file. */
  file: string;
  sha256: string | null;
}

/** What uv writes of a package's source: `sdist = { url = "…", hashes = { sha256 = "…" } }`. */
function sourceIn(lock: string): SourcePlace | null {
  const [, url = ''] = /^sdist = \{.*?\burl = "([^"]+)"/m.exec(lock) ?? [];
  const file = decodeURIComponent(url.replace(/[?#].*$/, '').replace(/^.*\//, ''));
  if (!/^\w[\w.+!-]*$/.test(file)) return null;
  const [, sha256 = null] = /^sdist = .*\bsha256 = "([0-9a-f]{64})"/m.exec(lock) ?? [];
  return { url, file, sha256 };
}

/** The wheel of exactly this version; null if the build left another one, or several. */
function wheelIn(folder: string, pin: string): string | null {
  const wheels = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name.endsWith('.whl'),
  );
  const [file, ...others] = wheels.map(({ name }) => name);
  if (file === undefined || others.length > 0) return null;
  const [name = '', version = ''] = file.split('-');
  const [, wanted = ''] = pin.replace(/\s*;.*$/, '').split('==');
  const isOfPin = packageOf(name) === packageOf(pin) && plainVersion(version) === plainVersion(wanted);
  return isOfPin ? join(folder, file) : null;
}

/** As names of wheels spell it: 2024.01-rc.1 is 2024.1rc1, and a local part follows an underscore. */
function plainVersion(version: string): string {
  return version
    .toLowerCase()
    .replaceAll('+', '_')
    .replace(/[-.]?(a|b|rc|post|dev)[-.]?/g, '$1')
    .replace(/(^|[^\d])0+(?=\d)/g, '$1');
}

async function installWheel(builder: Builder, uv: Uv, environment: string, wheel: string): Promise<void> {
  const python = executableOf(environment);
  const installing = ['pip', 'install', '--offline', '--no-index', '--no-deps', '--link-mode', 'copy'];
  const made = await run(builder, uv.executable, [
    ...[...installing, '--no-config', '--python', python, '--cache-dir', uv.cache, wheel],
  ]);
  if (made.exitCode === 0) return;
  throw new UserError(
    'build_failed',
    `the wheel that was built can't be installed:\n${tail(made.output)}`,
    `the log is ${builder.log}`,
  );
}

function buildFailed(builder: Builder, pin: string, { exitCode, output }: WheelResult): UserError {
  const ending = exitCode === null ? 'it was ended' : `exit code ${exitCode}`;
  return new UserError(
    'build_failed',
    exitCode === 0
      ? `building ${pin} from source left no wheel of this version`
      : `${pin} could not be built from source in the sandbox (${ending}):\n${tail(output)}`,
    `pin what it needs for building under build.tools in task.yaml (there is no network); log: ${builder.log}`,
  );
}
