import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { type HostVariables, pythonVariables } from './host-variables.ts';
import { explainPipFailure } from './pip-failure.ts';
import { packageOf } from './requirements.ts';
import { type ProcessResult, runProcess, tail } from './run-process.ts';
import { type Uv, uvArguments, uvVariables } from './uv.ts';

/** What builds one environment. */
export interface Builder {
  variables: HostVariables;
  signal?: AbortSignal | null;
  onProgress?: (message: string) => void;
  /** File for everything that the programs print. */
  log: string;
  /** Writes there. */
  record: (chunk: Buffer | string) => void;
  /** The Python that makes the environment: it runs nothing that is installed there. */
  interpreter: string;
  /** Whether to leave out dependencies that are not in the requirements. */
  isWhole?: boolean;
  /** Null: pip installs. */
  uv: () => Promise<Uv | null>;
}

export async function run(
  builder: Builder,
  command: string,
  parameters: readonly string[],
  variables: HostVariables = builder.variables,
): Promise<ProcessResult> {
  builder.record(`$ ${command} ${parameters.join(' ')}\n`);
  const report = progressIn((what) => builder.onProgress?.(what));
  return await runProcess(command, parameters, {
    variables: pythonVariables(variables),
    signal: builder.signal ?? null,
    onOutput: (chunk) => {
      builder.record(chunk);
      report(chunk);
    },
  });
}

/**
 * Reads the output of uv and pip and reports what they do: `downloading scipy (34.2MiB)`, and that they unpack, after the
 * last download. Of an address only the last part is reported, because it may contain a password.
 */
export function progressIn(report: (what: string) => void): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const lines = `${rest}${chunk.toString('utf8')}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const found = /^\s*Downloading (?:\S*\/)?([^\s/]+) \(([\d.]+ ?\w+)\)/.exec(line);
      if (found !== null) report(`downloading ${found[1]?.replace(/-.*\.whl$/, '')} (${found[2]})`);
      else if (/^Installing collected packages|^Prepared \d+ package/.test(line)) report('unpacking');
    }
  };
}

/**
 * Installs wheels only: they run no code during installation and need no compiler. First the packages for which the
 * lock has hashes, without dependencies; then, with pip, those that are only pinned. A Python that has the locked
 * packages beside it runs that pip.
 * @param requirements with their hashes, see `readRequirements`
 * @throws UserError with pip's last lines
 */
export async function installPackages(
  builder: Builder,
  environment: string,
  folder: string,
  requirements: ReadonlyMap<string, string>,
): Promise<void> {
  const all = [...requirements.keys()].sort();
  const locked = all.filter((line) => requirements.get(line) !== '');
  const names = new Set(all.map(packageOf));
  builder.onProgress?.(`installing ${[...names].join(', ')}`);
  if (locked.length > 0) {
    const lines = locked.map((line) => line + requirements.get(line));
    await installLocked(builder, environment, fileOf(folder, 'locked.txt', lines));
  }
  if (locked.length < all.length)
    await installByPip(builder, environment, [
      ...(builder.isWhole === true ? ['--no-deps'] : []),
      ...['-r', fileOf(folder, 'requirements.txt', all)],
    ]);
}

function fileOf(folder: string, name: string, lines: readonly string[]): string {
  const file = join(folder, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

async function installLocked(builder: Builder, environment: string, file: string): Promise<void> {
  const uv = await builder.uv();
  if (uv !== null) {
    const variables = await uvVariables(uv, builder.variables, builder.signal ?? null);
    const parameters = [...uvArguments(uv, executableOf(environment), variables), file];
    const result = await run(builder, uv.executable, parameters, variables);
    if (result.exitCode === 0) {
      await compilePackages(builder, environment);
      return;
    }
    builder.onProgress?.(`uv could not install them (its output is in ${builder.log}): trying pip`);
    await makeEnvironment(builder, environment);
  }
  await installByPip(builder, environment, ['--require-hashes', '--no-deps', '-r', file]);
}

export function executableOf(environment: string): string {
  return join(environment, 'bin', 'python');
}

/**
 * An empty environment, without packages of an earlier attempt.
 * @throws UserError
 */
export async function makeEnvironment(builder: Builder, environment: string): Promise<void> {
  const parameters = ['-I', '-m', 'venv', '--clear', '--without-pip', environment];
  const made = await run(builder, builder.interpreter, parameters);
  if (made.exitCode === 0) return;
  throw new UserError(
    'no_venv',
    `${builder.interpreter} could not make a virtual environment:\n${tail(made.output)}`,
    `check that venv works and that the disk has space; the log is ${builder.log}`,
  );
}

/**
 * Runs Python code about an environment without running any of its packages: the environment's own Python would first
 * execute what they left in a `.pth` file or a `sitecustomize`. In the code, `packages` is the folder of the packages.
 */
export async function runApart(builder: Builder, code: string, environment: string): Promise<ProcessResult> {
  return await run(builder, builder.interpreter, ['-I', '-S', '-c', placing + code, environment]);
}

const placing = `
import sys, sysconfig
place = {"base": sys.argv[1], "platbase": sys.argv[1]}
packages = sysconfig.get_path("purelib", "posix_prefix", place)
`;

/**
 * Compiles now, because a sandbox can't write to the environment. Tests are skipped: nobody imports them and they are
 * half of it. A file that this Python can't compile stays as it is, as with pip.
 */
const compiling = `
import compileall, re
compileall.compile_dir(packages, quiet=2, workers=0, rx=re.compile("/tests?/"))`;

export async function compilePackages(builder: Builder, environment: string): Promise<void> {
  builder.onProgress?.('compiling');
  await runApart(builder, compiling, environment);
}

const pip = ['-I', '-m', 'pip', 'install', '--no-input', '--disable-pip-version-check'] as const;

async function installByPip(builder: Builder, environment: string, what: readonly string[]): Promise<void> {
  const executable = executableOf(environment);
  const brought = await run(builder, executable, ['-I', '-m', 'ensurepip', '--default-pip']);
  if (brought.exitCode !== 0) throw explainPipFailure(brought, builder.log);
  const wheels = ['--progress-bar', 'off', '--only-binary', ':all:'];
  const result = await run(builder, executable, [...pip, ...wheels, ...what]);
  if (result.exitCode !== 0) throw explainPipFailure(result, builder.log);
}
