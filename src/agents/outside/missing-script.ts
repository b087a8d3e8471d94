import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { plainWords } from './command-words.ts';

const script = /^(?:\.\/[\w./+-]+|[\w+-][\w./+-]*\.(?:py|js|mjs|ts|sh))$/;
const interpreter = /^(?:\S*\/)?(?:python[\d.]*|node|bash|sh|deno|bun)$/;
/** After them, a word may mean something else than a file in the current folder. */
const changing = /^(?:cd|pushd|-c|-m|-e|-p|--eval|--print)$/;

/**
 * Refuses a command whose script is nowhere to be found.
 * @param folder where its relative paths begin
 * @param files those that it sees besides, one a line
 * @param workspaces folders of the tasks' starter files: absolute paths
 * @throws UserError `no_file`
 */
export function refuseMissingScript(
  command: string,
  folder: string,
  files: string,
  workspaces: readonly string[],
): void {
  const named = firstScript(plainWords(command));
  if (named === null) return;
  const given = files.split('\n').map((path) => basename(path));
  const [top] = named.replace(/^\.\//, '').split('/');
  if (given.includes(top ?? '')) return;
  if ([folder, ...workspaces].some((one) => existsSync(resolve(one, named)))) return;
  throw new UserError(
    'no_file',
    `The command names ${named}, which is neither in ${folder} nor among the starter files of the tasks.`,
    'Correct its path, which is relative to the current folder; more files are given by the option files: --agent-option files=FILE,FOLDER',
  );
}

/** The first relative path of a script that a command starts; null if there is none, or it can't be told. */
function firstScript(words: readonly string[]): string | null {
  const at = words.findIndex((word) => script.test(word));
  const named = words[at];
  if (named === undefined || words.slice(0, at).some((word) => changing.test(word))) return null;
  // The value of another program's option may be a file that it writes.
  const isValue = words[at - 1]?.startsWith('-') === true && !interpreter.test(words[0] ?? '');
  return isValue ? null : named;
}
