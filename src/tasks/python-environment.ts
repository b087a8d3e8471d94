import { randomBytes } from 'node:crypto';
import { accessSync, appendFileSync, constants, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../lib/atomic-file.ts';
import { UserError } from '../lib/errors.ts';
import { withFileLock } from '../lib/file-lock.ts';
import { sha256 } from '../lib/hash.ts';
import { plainLine } from '../lib/plain-line.ts';
import type { HostVariables } from './host-variables.ts';
import {
  type Builder,
  executableOf,
  installPackages,
  makeEnvironment,
  runApart,
} from './install-packages.ts';
import { findInterpreter, type Interpreter } from './python-interpreter.ts';
import { packageOf, readRequirements } from './requirements.ts';
import { tail } from './run-process.ts';
import { installFromSource, type SourceBuild } from './source-packages.ts';
import { type Uv, uvRequirement, uvVersion } from './uv.ts';
import { withWritableCache } from './writable-cache.ts';

/** A virtual environment on the host with a task's packages, shared by all tasks with the same requirements. */
export const PythonEnvironment = z.object({
  environment: z.string().describe('absolute path of the virtual environment'),
  executable: z.string().describe('absolute path of its interpreter'),
  basePrefix: z.string().describe('sys.base_prefix: the installation it was made from, links resolved'),
  version: z.string().describe('such as 3.12.4'),
  sitePackages: z.string().describe('absolute path of the folder with the packages'),
  packages: z.record(z.string(), z.string()).describe('versions of all that is installed, by name'),
});
export type PythonEnvironment = z.infer<typeof PythonEnvironment>;

export interface EnsurePythonOptions {
  /** The project's cache folder. */
  cache: string;
  /** A command or path to use instead of the first suitable Python. */
  interpreter?: string | null;
  /** Such as `3.12`, if no other version will do. */
  pythonVersion?: string | null;
  /** Whether to install the requirements alone, without their dependencies. */
  isWhole?: boolean;
  /** What is built from source. */
  build?: SourceBuild | undefined;
  /** The installer for packages with hashes in a lock; default: uv, or pip if uv can't be installed. */
  installer?: 'uv' | 'pip';
  /** Environment variables for pip and Python; default: those of this process. */
  variables?: HostVariables;
  onProgress?: (message: string) => void;
  signal?: AbortSignal | null;
}

/**
 * The environment for these requirements (the text of a requirements.txt), made if there is none yet. Processes that
 * need it at the same time share one build; an interrupted build is done again.
 * @throws UserError if Python or a package is missing.
 */
export async function ensurePython(
  requirements: string,
  options: EnsurePythonOptions,
): Promise<PythonEnvironment> {
  const variables = options.variables ?? process.env;
  const interpreter = await findInterpreter({ ...options, variables });
  const wanted = readRequirements(requirements);
  const folder = folderOf(wanted, interpreter, options);
  const ready = readReady(folder);
  if (ready !== null) return ready;
  const onWait = ({ pid }: { pid: number }) =>
    options.onProgress?.(`waiting for process ${pid}, which makes the same Python environment`);
  const lock = { signal: options.signal ?? null, onWait };
  return await withWritableCache(options.cache, () =>
    withFileLock(join(folder, 'lock'), lock, async () => {
      const meanwhile = readReady(folder);
      if (meanwhile !== null) return meanwhile;
      removeAttempts(folder);
      return await build(folder, wanted, interpreter, { ...options, variables });
    }),
  );
}

/** Everything that determines an environment goes into the name of its folder. */
function folderOf(
  wanted: ReadonlyMap<string, string>,
  interpreter: Interpreter,
  { cache, isWhole = false, build }: EnsurePythonOptions,
): string {
  const names = [...wanted.keys()].sort();
  const hashes = names.map((name) => wanted.get(name) ?? '');
  const locked = hashes.some((text) => text !== '') ? [hashes] : [];
  const whole = isWhole ? ['whole'] : [];
  const built = build === undefined ? [] : [{ packages: build.packages.map(packageOf), tools: build.tools }];
  const identity = [names, interpreter.version, interpreter.platform, ...locked, ...whole, ...built];
  return join(cache, 'environments', sha256(JSON.stringify(identity)).slice(0, 32));
}

/**
 * The environment for these requirements, if it exists; null otherwise.
 * @throws UserError if Python is missing
 */
export async function knownPython(
  requirements: string,
  options: EnsurePythonOptions,
): Promise<PythonEnvironment | null> {
  const interpreter = await findInterpreter({ variables: process.env, ...options });
  return readReady(folderOf(readRequirements(requirements), interpreter, options));
}

/**
 * The pinned uv, installed by pip into its own environment.
 * @throws UserError if it can't be installed
 */
export async function ensureUv(options: EnsurePythonOptions): Promise<Uv> {
  return uvOf(options.cache, await ensurePython(uvRequirement, { ...options, installer: 'pip' }));
}

/**
 * The installed uv; null if there is none yet.
 * @throws UserError if Python is missing
 */
export async function knownUv(options: EnsurePythonOptions): Promise<Uv | null> {
  const ready = await knownPython(uvRequirement, options);
  return ready === null ? null : uvOf(options.cache, ready);
}

function uvOf(cache: string, { executable }: PythonEnvironment): Uv {
  return { executable: join(dirname(executable), 'uv'), python: executable, cache: join(cache, 'uv') };
}

/** Null: not made, interrupted, or its base installation no longer exists. */
function readReady(folder: string): PythonEnvironment | null {
  try {
    const ready = PythonEnvironment.parse(JSON.parse(readFileSync(join(folder, 'ready.json'), 'utf8')));
    accessSync(ready.executable, constants.X_OK);
    accessSync(ready.sitePackages, constants.R_OK);
    return ready;
  } catch {
    return null;
  }
}

/**
 * Each attempt has its own folder: an environment can't be moved, and a pip that outlived its killed parent may still
 * write to the folder that it knows. The marker that names the good one is written last.
 */
async function build(
  folder: string,
  requirements: ReadonlyMap<string, string>,
  interpreter: Interpreter,
  options: EnsurePythonOptions & { variables: HostVariables },
): Promise<PythonEnvironment> {
  const attempt = join(folder, `attempt-${randomBytes(4).toString('hex')}`);
  const environment = join(attempt, 'venv');
  const log = join(attempt, 'install.log');
  mkdirSync(attempt, { recursive: true });
  options.onProgress?.(`making a Python ${interpreter.version} environment`);
  const uv = () => (options.installer === 'pip' ? Promise.resolve(null) : uvOrNull(options));
  const record = (chunk: Buffer | string) => appendFileSync(log, chunk);
  const builder: Builder = { ...options, log, record, uv, interpreter: interpreter.executable };
  await makeEnvironment(builder, environment);
  const [wheels, sources] = byOrigin(requirements, options.build);
  if (wheels.size > 0) await installPackages(builder, environment, attempt, wheels);
  if (options.build !== undefined && sources.size > 0) {
    const tools = await ensurePython(options.build.tools.join('\n'), { ...options, build: undefined });
    await installFromSource(builder, environment, attempt, sources, { ...options.build, tools });
  }
  const ready: PythonEnvironment = {
    environment,
    executable: executableOf(environment),
    basePrefix: interpreter.basePrefix,
    version: interpreter.version,
    ...(await describe(builder, environment)),
  };
  writeFileAtomically(join(folder, 'ready.json'), `${JSON.stringify(ready, null, 2)}\n`);
  return ready;
}

/** The requirements that are installed from wheels, and those that are built. */
function byOrigin(
  requirements: ReadonlyMap<string, string>,
  build: SourceBuild | undefined,
): [Map<string, string>, Map<string, string>] {
  const built = new Set(build?.packages.map(packageOf));
  const [wheels, sources] = [new Map<string, string>(), new Map<string, string>()];
  for (const [pin, hashes] of requirements) (built.has(packageOf(pin)) ? sources : wheels).set(pin, hashes);
  return [wheels, sources];
}

const Description = PythonEnvironment.pick({ sitePackages: true, packages: true });

const question = `
import importlib.metadata, json
print(json.dumps({
    "sitePackages": packages,
    "packages": {d.metadata["Name"]: d.version for d in importlib.metadata.distributions(path=[packages])},
}))`;

async function describe(builder: Builder, environment: string): Promise<z.infer<typeof Description>> {
  const result = await runApart(builder, question, environment);
  if (result.exitCode !== 0) {
    throw new UserError(
      'broken_environment',
      `what is in the new Python environment can't be read:\n${tail(result.output)}`,
      `the log is ${builder.log}`,
    );
  }
  return Description.parse(JSON.parse(result.output));
}

/** Null, with a message, if uv can't be installed. */
async function uvOrNull(options: EnsurePythonOptions): Promise<Uv | null> {
  try {
    return await ensureUv(options);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!UserError.isInstance(error)) throw error;
    options.onProgress?.(
      `uv ${uvVersion} can't be installed, so pip is used: ${plainLine(error.message, 200)}`,
    );
    return null;
  }
}

function removeAttempts(folder: string): void {
  rmSync(join(folder, 'ready.json'), { force: true });
  for (const name of readdirSync(folder)) {
    if (name.startsWith('attempt-'))
      rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
  }
}
