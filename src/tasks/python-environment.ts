import { randomBytes } from 'node:crypto';
import {
  accessSync,
  appendFileSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../lib/atomic-file.ts';
import { UserError } from '../lib/errors.ts';
import { withFileLock } from '../lib/file-lock.ts';
import { sha256 } from '../lib/hash.ts';
import { pythonVariables, type Variables } from './host-variables.ts';
import { explainPipFailure, hasNoWheel } from './pip-failure.ts';
import { findInterpreter, type Interpreter } from './python-interpreter.ts';
import { normaliseRequirements } from './requirements.ts';
import { type ProcessResult, runProcess, tail } from './run-process.ts';
import { withWritableCache } from './writable-cache.ts';

/** A virtual environment on the host with a task's packages, shared by all that need the same ones. */
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
  /** A command or path instead of the first Python that serves. */
  interpreter?: string | null;
  /** What pip and Python are run with; default: this process's environment variables. */
  variables?: Variables;
  onProgress?: (message: string) => void;
  signal?: AbortSignal | null;
}

/**
 * The environment for these requirements (the text of a requirements.txt), made when there is none yet.
 * Processes that ask at the same time share one build; a build that was cut off is done again.
 * @throws UserError when Python or a package is missing.
 */
export async function ensurePython(
  requirements: string,
  options: EnsurePythonOptions,
): Promise<PythonEnvironment> {
  const variables = options.variables ?? process.env;
  const interpreter = await findInterpreter({ ...options, variables });
  const wanted = normaliseRequirements(requirements);
  const key = sha256(JSON.stringify([wanted, interpreter.version, interpreter.platform])).slice(0, 32);
  const folder = join(options.cache, 'environments', key);
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

/** Null: not made, cut off half way, or its base installation has gone. */
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
 * Each attempt has a folder of its own, since an environment can't be moved, and a pip that outlived its killed
 * parent may go on writing into the one it knows. The marker that names the good one comes last.
 */
async function build(
  folder: string,
  requirements: readonly string[],
  interpreter: Interpreter,
  options: EnsurePythonOptions & { variables: Variables },
): Promise<PythonEnvironment> {
  const attempt = join(folder, `attempt-${randomBytes(4).toString('hex')}`);
  const environment = join(attempt, 'venv');
  const log = join(attempt, 'install.log');
  mkdirSync(attempt, { recursive: true });
  options.onProgress?.(`making a Python ${interpreter.version} environment`);
  const builder: Builder = { options, log };
  await makeEnvironment(builder, interpreter, environment, requirements.length > 0);
  const executable = join(environment, 'bin', 'python');
  if (requirements.length > 0) await install(builder, executable, attempt, requirements);
  const ready: PythonEnvironment = {
    environment,
    executable,
    basePrefix: interpreter.basePrefix,
    version: interpreter.version,
    ...(await describe(builder, executable)),
  };
  writeFileAtomically(join(folder, 'ready.json'), `${JSON.stringify(ready, null, 2)}\n`);
  return ready;
}

interface Builder {
  options: EnsurePythonOptions & { variables: Variables };
  /** File that everything is written to that the programs print. */
  log: string;
}

async function run(builder: Builder, command: string, parameters: readonly string[]): Promise<ProcessResult> {
  appendFileSync(builder.log, `$ ${command} ${parameters.join(' ')}\n`);
  return await runProcess(command, parameters, {
    variables: pythonVariables(builder.options.variables),
    signal: builder.options.signal ?? null,
    onOutput: (chunk) => appendFileSync(builder.log, chunk),
  });
}

async function makeEnvironment(
  builder: Builder,
  interpreter: Interpreter,
  environment: string,
  withPip: boolean,
): Promise<void> {
  const parameters = ['-I', '-m', 'venv', ...(withPip ? [] : ['--without-pip']), environment];
  const made = await run(builder, interpreter.executable, parameters);
  if (made.exitCode === 0) return;
  throw new UserError(
    'no_venv',
    `${interpreter.executable} could not make a virtual environment:\n${tail(made.output)}`,
    `check that venv works and the disk has room; the log is ${builder.log}`,
  );
}

/** Wheels first: they run no code while installing and need no compiler. Sources only where there is no wheel. */
async function install(
  builder: Builder,
  executable: string,
  attempt: string,
  requirements: readonly string[],
): Promise<void> {
  const file = join(attempt, 'requirements.txt');
  writeFileSync(file, `${requirements.join('\n')}\n`);
  const pip = [
    '-I',
    '-m',
    'pip',
    'install',
    '--no-input',
    '--disable-pip-version-check',
    '--progress-bar',
    'off',
  ];
  const names = new Set(requirements.map((line) => line.replace(/[=[;\s].*$/, '')));
  builder.options.onProgress?.(`installing ${[...names].join(', ')}`);
  let result = await run(builder, executable, [...pip, '--only-binary', ':all:', '-r', file]);
  if (result.exitCode !== 0 && hasNoWheel(result.output)) {
    builder.options.onProgress?.('no wheel for every package: trying to build from source');
    const second = await run(builder, executable, [...pip, '-r', file]);
    if (second.exitCode === 0 || !hasNoWheel(second.output)) result = second;
  }
  if (result.exitCode !== 0) throw explainPipFailure(result, builder.log);
}

const Description = PythonEnvironment.pick({ sitePackages: true, packages: true });

const question = `
import importlib.metadata, json, sysconfig
print(json.dumps({
    "sitePackages": sysconfig.get_paths()["purelib"],
    "packages": {d.metadata["Name"]: d.version for d in importlib.metadata.distributions()},
}))`;

async function describe(builder: Builder, executable: string): Promise<z.infer<typeof Description>> {
  const result = await run(builder, executable, ['-I', '-c', question]);
  if (result.exitCode !== 0) {
    throw new UserError(
      'broken_environment',
      `the new Python environment does not run:\n${tail(result.output)}`,
      `the log is ${builder.log}`,
    );
  }
  return Description.parse(JSON.parse(result.output));
}

function removeAttempts(folder: string): void {
  rmSync(join(folder, 'ready.json'), { force: true });
  for (const name of readdirSync(folder)) {
    if (name.startsWith('attempt-'))
      rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
  }
}
