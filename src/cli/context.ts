import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../lib/cache-folder.ts';
import { UserError } from '../lib/errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import { type Logger, type LogLevel, silentLogger } from './logger.ts';
import { noSettings, type UserSettings } from './settings.ts';
import { terminalText } from './table.ts';

/** What the first and the second Ctrl-C print while jobs run elsewhere. */
export interface DetachWords {
  first: string;
  /** Null if there is nothing to cancel: the process then ends as usual. */
  second: string | null;
}

/** What every verb gets: folders, output, and the signal to stop. Built once, in main.ts. */
export interface Context {
  folders: {
    /** The folder of the package: `tasks/`, `python/`. */
    package: string;
    experiments: string;
    cache: string;
    /** Searched for tasks, in this order. */
    tasks: string[];
    /** Those given by a flag, and the package's own. */
    namedTasks: string[];
    /** The Python helper package. */
    helpers: string;
  };
  settings: UserSettings;
  version: string;
  variables: Readonly<Record<string, string | undefined>>;
  /** How to call this mlab: `npx mlab` in a checkout. */
  command: string;
  /** ` --dir FOLDER --task-dir FOLDER`, if given: for commands that are shown to the user. */
  placeFlags: string;
  /** The same with absolute paths, for commands that are executed elsewhere. */
  placeWords: readonly string[];
  /** A person reads standard error at a terminal. */
  isTerminal: boolean;
  /** How much progress to show. */
  verbosity: Verbosity;
  /** Writes to standard error: progress and warnings, nothing when quiet. Never part of the result. */
  log: (line: string) => void;
  /** Writes the lines of `log`; a display that rewrites its own lines takes over while it is there, to keep them above. */
  printer: { print: (line: string) => void };
  /** For programs that watch many runs; silent by default. */
  logger: Logger;
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
  /**
   * From now on the first Ctrl-C leaves jobs elsewhere running. The second aborts the returned signal, which cancels
   * them.
   */
  detachable: (words: DetachWords) => AbortSignal;
}

/** The result of a verb: printed as text, or with --json as one document. */
export interface VerbResult {
  text: string;
  /** Printed after the text, if it may be too long for one string. */
  lines?: AsyncIterable<string>;
  /** A function, if the value is costly to compute. */
  json: unknown;
  exitCode?: ExitCode;
  /** What still runs after the result is printed, until it ends by itself or the signal aborts it. */
  stay?: () => Promise<void>;
}

/** Exit codes of `mlab`; documented in docs/command-line.md. */
export const exitCodes = {
  /** Done. */
  ok: 0,
  /** Completed with a negative result: a check failed, a run could not be finished or graded. */
  negative: 1,
  /** Wrong usage or bad input. */
  usage: 2,
  /** Something needed is missing or refused: the sandbox, Python, data, disk. `mlab doctor` says more. */
  missing: 3,
  /** A bug. */
  internal: 4,
  /** Stopped by Ctrl-C. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The folder that contains `package.json`, from a file below src/cli or dist/cli. */
export function packageFolder(): string {
  return dirname(dirname(dirname(fileURLToPath(import.meta.url))));
}

export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

export type Verbosity = 'quiet' | 'normal' | 'verbose';

export interface GlobalOptions {
  quiet?: boolean;
  verbose?: boolean;
  dir?: string;
  taskDir?: string[];
  logLevel?: LogLevel;
  /** Settings of the working directory. */
  settings?: UserSettings;
}

export function createContext(
  options: GlobalOptions,
  variables: Readonly<Record<string, string | undefined>>,
  version: string,
  signal: AbortSignal,
  logger: Logger = silentLogger,
  detachable: Context['detachable'] = () => new AbortController().signal,
): Context {
  const home = packageFolder();
  const own = resolve('tasks');
  const { settings = noSettings } = options;
  const verbosity = verbosityOf(options);
  const given = (options.taskDir ?? []).map(existingFolder);
  const found = [...settings.tasks.map(existingFolder), ...(existsSync(own) ? [own] : [])];
  // A task's scripts prepare its data outside of any sandbox, so a task that just happens to be here must not replace
  // one of mlab's.
  const named = [...given, join(home, 'tasks')];
  const printer = { print: (line: string): void => void process.stderr.write(`${line}\n`) };
  return {
    command: existsSync(join(home, 'src')) ? 'npx mlab' : 'mlab',
    placeFlags: placeFlagsOf(options),
    placeWords: [...given, ...found].flatMap((folder) => ['--task-dir', folder]),
    folders: {
      package: home,
      experiments: resolve(options.dir ?? variables.MLAB_EXPERIMENTS ?? 'experiments'),
      cache: cacheFolder(variables),
      tasks: [...new Set([...named, ...found])],
      namedTasks: named,
      helpers: join(home, 'python'),
    },
    settings,
    version,
    variables,
    isTerminal: process.stderr.isTTY === true,
    verbosity,
    log: (line) => {
      if (verbosity !== 'quiet') printer.print(terminalText(line));
    },
    printer,
    logger,
    signal,
    detachable,
  };
}

function existingFolder(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return resolve(folder);
  throw new UserError(
    'bad_flag',
    `There is no folder ${folder}.`,
    '--task-dir takes a folder that contains task folders; use --task to choose tasks.',
  );
}

function verbosityOf({ quiet, verbose }: GlobalOptions): Verbosity {
  if (quiet === true && verbose === true)
    throw new UserError('bad_flag', '--quiet and --verbose contradict each other.', 'Leave one of them out.');
  if (quiet === true) return 'quiet';
  return verbose === true ? 'verbose' : 'normal';
}

function placeFlagsOf({ dir, taskDir }: GlobalOptions): string {
  const given = [
    ...(dir === undefined ? [] : ['--dir', dir]),
    ...(taskDir ?? []).flatMap((folder) => ['--task-dir', folder]),
  ];
  return given.map((word) => ` ${shellWord(word)}`).join('');
}
