import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { plainWords } from './command-words.ts';

/** Folders that contain programs in every sandbox; the first three are those of the task's Python. */
const always = ['python', 'python3', 'pip'];
const usual = ['/usr/local/bin', '/usr/bin', '/bin'];
const interpreter = /^(?:\S*\/)?(?:python[\d.]*|node|bash|sh|ruby|perl|Rscript|julia|deno|bun)$/;
/** What /bin/sh does itself. */
const builtIn =
  /^(?:[.:!{([]|cd|eval|exec|export|false|for|if|case|while|until|set|trap|true|ulimit|umask|unset|test|echo|printf|wait|read|exit|command|env)$/;

/**
 * What is probably wrong with a command.
 * @param folder where its relative paths begin
 * @throws UserError `no_program` if it names a file that is neither here nor could be in a workspace
 */
export function commandWarnings(command: string, folder: string): string[] {
  return [...environmentWarnings(command, folder), ...programWarnings(command, folder)];
}

/** A virtual environment is not in the sandbox: only the interpreter that its Python links to would be. */
function environmentWarnings(command: string, folder: string): string[] {
  return plainWords(command)
    .filter((word) => word.includes('/'))
    .map((word) => resolve(folder, word))
    .filter((path) => existsSync(path) && existsSync(join(dirname(dirname(path)), 'pyvenv.cfg')))
    .map(
      (path) =>
        `Warning: ${path} belongs to a virtual environment, whose packages are not in the sandbox. Instead, run pip install --target vendor PACKAGE, add --agent-option files=vendor, and begin the script with: import sys; sys.path.insert(0, "/mlab-agent/files/vendor")`,
    );
}

function programWarnings(command: string, folder: string): string[] {
  const [program = '', first = ''] = plainWords(command);
  const isPlain = /^[\w./+-]+$/.test(program);
  if (!isPlain || builtIn.test(program)) return [];
  if (interpreter.test(program) && /^[\w./+ -]+\.\w+$/.test(first) && !first.startsWith('-')) {
    if (existsSync(resolve(folder, first))) return [];
    if (first.startsWith('../'))
      throw new UserError(
        'no_program',
        `The command names ${first}, and there is no such file from ${folder}.`,
        'Correct the path.',
      );
    return [
      `Warning: the command names ${first}, and there is no such file in ${folder}: only one of the task's workspace could be meant.`,
    ];
  }
  if (program.includes('/') || always.includes(program)) return [];
  const folders = [...usual, ...(process.env.PATH ?? '').split(delimiter).filter((each) => each !== '')];
  if (folders.some((each) => isProgram(join(each, program)))) return [];
  return [`Warning: the command starts ${program}, which is in no folder of PATH.`];
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
