import { existsSync, globSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { z } from 'zod';
import { hasCode, UserError } from '../lib/errors.ts';
import { type HostVariables, pythonVariables } from './host-variables.ts';
import { runProcess } from './run-process.ts';

/** A Python on the host that can make environments. */
export interface Interpreter {
  /** Absolute path of the actual program: not a pyenv shim or a link, and not in a virtual environment. */
  executable: string;
  /** `sys.base_prefix`, links resolved. */
  basePrefix: string;
  /** Such as `3.12.4`. */
  version: string;
  /** Such as `linux-x86_64`. */
  platform: string;
  /** Whether `venv` and `ensurepip` are installed: some systems package them separately. */
  canMakeEnvironments: boolean;
}

const Answer = z.object({
  executable: z.string().min(1),
  base_prefix: z.string().min(1),
  version: z.tuple([z.int(), z.int(), z.int()]),
  platform: z.string(),
  venv: z.boolean(),
});

const question = `
import importlib.util, json, os, sys, sysconfig
print(json.dumps({
    "executable": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "base_prefix": os.path.realpath(sys.base_prefix),
    "version": list(sys.version_info[:3]),
    "platform": sysconfig.get_platform(),
    "venv": all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip")),
}))`;

export const candidates = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];

/** Errors that mean that a command is not installed; any other (no process slots, say) is reported. */
const notThere = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'ELOOP'];

export interface FindInterpreterOptions {
  /** A command or path to use instead of searching. */
  interpreter?: string | null;
  /** Such as `3.12`: no other version will do. The folders of pyenv and uv are searched, too. */
  pythonVersion?: string | null;
  variables: HostVariables;
  signal?: AbortSignal | null;
}

/**
 * The first Python ≥ 3.10, or of the required version, that can make virtual environments.
 * @throws UserError `no_python`, `old_python` or `no_venv` with the command that fixes it.
 */
export async function findInterpreter(options: FindInterpreterOptions): Promise<Interpreter> {
  const seen: Interpreter[] = [];
  for (const command of commandsOf(options)) {
    const found = await ask(command, options);
    if (found === null) continue;
    if (serves(found, options) && found.canMakeEnvironments) return found;
    seen.push(found);
  }
  throw explain(options, seen);
}

function commandsOf({ interpreter, pythonVersion, variables }: FindInterpreterOptions): string[] {
  if (interpreter) return [interpreter];
  return pythonVersion
    ? [`python${pythonVersion}`, 'python3', ...besidePath(pythonVersion, variables)]
    : candidates;
}

/** Pythons that pyenv and uv keep outside PATH. */
function besidePath(
  version: string,
  { HOME: home = homedir(), PYENV_ROOT: pyenv, UV_PYTHON_INSTALL_DIR: uv }: HostVariables,
): string[] {
  const folders = [
    join(pyenv ?? join(home, '.pyenv'), 'versions'),
    uv ?? join(home, '.local/share/uv/python'),
  ];
  return folders.flatMap((folder) =>
    globSync(join(folder, `*${version}.*`, 'bin', `python${version}`)).sort(),
  );
}

/** Null: there is no such command, or it is not a Python 3 (a pyenv shim without a version behind it, say). */
async function ask(command: string, options: FindInterpreterOptions): Promise<Interpreter | null> {
  let output: string;
  try {
    const variables = pythonVariables(options.variables);
    const result = await runProcess(command, ['-I', '-c', question], {
      variables,
      signal: options.signal ?? null,
    });
    if (result.exitCode !== 0) return null;
    output = result.output;
  } catch (error) {
    options.signal?.throwIfAborted();
    if (notThere.some((code) => hasCode(error, code))) return null;
    throw error;
  }
  return readAnswer(output);
}

function readAnswer(output: string): Interpreter | null {
  const line = output.split('\n').findLast((text) => text.startsWith('{'));
  if (line === undefined) return null;
  const answer = Answer.safeParse(JSON.parse(line));
  if (!answer.success) return null;
  return {
    executable: answer.data.executable,
    basePrefix: answer.data.base_prefix,
    version: answer.data.version.join('.'),
    platform: answer.data.platform,
    canMakeEnvironments: answer.data.venv,
  };
}

function serves({ version }: Interpreter, { pythonVersion }: FindInterpreterOptions): boolean {
  if (pythonVersion) return version.startsWith(`${pythonVersion}.`);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 10);
}

function explain(options: FindInterpreterOptions, seen: readonly Interpreter[]): UserError {
  const { pythonVersion } = options;
  const bare = seen.find((found) => serves(found, options));
  if (bare !== undefined) {
    return new UserError(
      'no_venv',
      `Python ${bare.version} (${bare.executable}) can't make virtual environments: venv or ensurepip is missing`,
      installCommand(options.variables, [`python${pythonVersion ?? 3}-venv`, 'python3-pip', 'py3-pip']),
    );
  }
  if (pythonVersion) {
    return new UserError(
      'no_python',
      `no Python ${pythonVersion} was found (tried ${commandsOf(options).join(', ')})`,
      `Install it with its venv module (uv python install ${pythonVersion}, pyenv install ${pythonVersion}, or your system's package).`,
    );
  }
  const [old] = seen;
  const hint = installCommand(options.variables, ['python3 python3-venv', 'python3', 'python3']);
  if (old !== undefined) {
    return new UserError(
      'old_python',
      `Python ${old.version} (${old.executable}) is too old: 3.10 is needed`,
      hint,
    );
  }
  if (options.interpreter) {
    return new UserError(
      'no_python',
      `${options.interpreter} is no Python that can be started`,
      'The flag --interpreter takes the command or the path of a Python 3.10 or newer.',
    );
  }
  return new UserError('no_python', `no Python ≥ 3.10 was found (tried ${candidates.join(', ')})`, hint);
}

/**
 * The package manager's command on this machine.
 * @param packages for apt-get, dnf and apk
 */
function installCommand(
  variables: HostVariables,
  [apt, dnf, apk]: readonly [string, string, string],
): string {
  const has = (tool: string) =>
    (variables.PATH ?? '').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, tool)));
  if (has('apt-get')) return `sudo apt-get install ${apt}`;
  if (has('dnf')) return `sudo dnf install ${dnf}`;
  if (has('apk')) return `sudo apk add ${apk}`;
  if (has('brew')) return 'brew install python@3.12';
  return 'install Python 3.10 or newer with its venv module';
}
