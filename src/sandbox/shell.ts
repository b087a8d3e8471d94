import { basename } from 'node:path';
import { shellWord } from '../lib/shell-word.ts';
import type { SandboxLimits } from './sandbox.ts';

/** Each may hold memory of the kernel. */
const openFiles = 4096;

/** POSIX's unit of `ulimit -f`. */
const fileBlock = 512;

/**
 * Runs on the host before the sandbox is made: joins the groups, sets the limits that processes inherit, becomes the
 * driver's command. Any step that fails ends it, so nothing ever runs unlimited.
 * @param before shell commands to run first
 */
export function outerCommand(
  joinFiles: readonly string[],
  limits: SandboxLimits,
  dataBytes: number | null,
  command: readonly string[],
  before: readonly string[] = [],
): string[] {
  const script = [
    'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift',
    'ulimit -c 0',
    // If the limit is lower already, it stays.
    `ulimit -n ${openFiles} 2> /dev/null`,
    `ulimit -f ${Math.ceil(limits.fileBytes / fileBlock)} || exit 125`,
    ...(dataBytes === null ? [] : [`ulimit -d ${Math.ceil(dataBytes / 1024)} || exit 125`]),
    ...before,
    'exec "$@"',
  ].join('\n');
  return ['/bin/sh', '-c', script, 'sh', ...joinFiles, '--', ...command];
}

/**
 * Runs in place: prints the marker on standard error, redirects standard error to standard output and becomes the
 * command.
 */
export function directCommand(marker: string, argv: readonly string[]): string[] {
  return ['/bin/sh', '-c', 'echo "$1" >&2\nshift\nexec "$@" 2>&1', 'sh', marker, ...argv];
}

/** Where a container sees its own group, of either version. */
const groupFiles = [
  'memory/memory.oom_control',
  'memory/memory.max_usage_in_bytes',
  'cpuacct/cpuacct.usage',
  'memory.events',
  'memory.peak',
  'cpu.stat',
];

/**
 * Runs inside a container, as the first process of its namespace: prints the marker on standard error, runs the command
 * with its standard error redirected to standard output, and stays, to reap orphans. When it ends, the kernel kills all
 * others. So messages of the driver and this shell never mix with the command's output. At its end it prints what the
 * control group counted, each line after the file's name.
 * @param folder where the command runs. An earlier command may have closed it: that is this command's failure, not the
 *   sandbox's.
 */
export function firstCommand(marker: string, argv: readonly string[], folder: string): string[] {
  const script = [
    // From the command's own process, so that from then on there is one to signal.
    `(echo "$1" >&2; shift; exec 2>&1; ${enterAndRun})`,
    'code=$?',
    ...groupFiles.map(reportLine),
    'exit $code',
  ];
  return ['/bin/sh', '-c', script.join('\n'), 'sh', marker, folder, ...argv];
}

const enterAndRun = 'cd -P -- "$1" || exit 126; shift; unset OLDPWD; exec "$@"';

function reportLine(file: string): string {
  const path = `/sys/fs/cgroup/${file}`;
  return `[ -r ${path} ] && while read -r line; do echo "${basename(file)} $line"; done < ${path} >&2`;
}

/** What a launcher prints when it is ready, and when its process is about to become a command. */
export const launcherWords = { ready: 'ready', begun: 'begun' } as const;

/** Names of a launcher's pipes in its folder, which is its third open file. */
export const launcherPipes = { input: 'input', output: 'output' } as const;

/**
 * What the first process of a sandbox is for its life, see `Launcher`: a shell that executes what it reads, in blocks
 * where the shell can. Its first parameter is a newline.
 */
export function launcherCommand(shell: string): string[] {
  return [shell, '-s', '\n'];
}

/** The first line for a launcher. */
export const launcherGreeting = `echo ${launcherWords.ready}\n`;

/** If the machine's memory runs out, the kernel kills commands first. */
export const toBeKilledFirst = '{ echo 500 > /proc/self/oom_score_adj; } 2> /dev/null';

/** Makes a launcher's pipes, in the working directory of its command. */
export const makeLauncherPipes = `mkfifo -m 666 ${Object.values(launcherPipes).join(' ')} || exit 125`;

export interface CommandInLauncher {
  argv: readonly string[];
  /**
   * Where the command runs. An earlier command may have closed it: that is this command's failure, not the sandbox's.
   */
  folder: string;
  /** As many as its user may run; null: something else limits them. */
  processes: number | null;
  /** Whether the input pipe is the command's input. */
  readsPipe: boolean;
}

/**
 * The line by which a process of a launcher becomes a command; at the command's end, the launcher prints its exit code.
 * Of the launcher's files it keeps none, and has one or both of the pipes instead.
 */
export function launcherLine({ argv, folder, processes, readsPipe }: CommandInLauncher): string {
  const path = '/proc/self/fd/3';
  const from = readsPipe ? `${path}/${launcherPipes.input}` : '/dev/null';
  const steps = [
    ...(processes === null ? [] : [processLimit(processes)]),
    `exec 4>&1 < ${from} > ${path}/${launcherPipes.output} 3<&-`,
    // From the command's own process, so that from then on there is one to signal.
    `echo ${launcherWords.begun} >&4`,
    'exec 2>&1 4>&-',
    `cd -P -- ${wordInLine(folder)} || exit 126`,
    'unset OLDPWD',
    `exec ${argv.map(wordInLine).join(' ')}`,
  ];
  return `(${steps.join('; ')}); echo $?\n`;
}

/** A newline is the shell's first parameter. */
function wordInLine(text: string): string {
  return shellWord(text).replaceAll('\n', `'"$1"'`);
}

/** dash calls the option -p, other shells -u. */
function processLimit(processes: number): string {
  return `{ ulimit -u ${processes} || ulimit -p ${processes} || exit 125; } 2> /dev/null`;
}
