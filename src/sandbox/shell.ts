import { basename } from 'node:path';
import type { SandboxLimits } from './sandbox.ts';

/** Each may hold memory of the kernel's. */
const openFiles = 4096;

/** POSIX's unit of `ulimit -f`. */
const fileBlock = 512;

/**
 * Runs on the host before the sandbox is made: joins the groups, sets the limits that processes inherit, becomes
 * the driver's command. Any step that fails ends it, so nothing ever runs unlimited.
 */
export function outerCommand(
  joinFiles: readonly string[],
  limits: SandboxLimits,
  dataBytes: number | null,
  command: readonly string[],
): string[] {
  const script = [
    'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift',
    'ulimit -c 0',
    // Where fewer are allowed already, they stay so.
    `ulimit -n ${openFiles} 2> /dev/null`,
    `ulimit -f ${Math.ceil(limits.fileBytes / fileBlock)} || exit 125`,
    ...(dataBytes === null ? [] : [`ulimit -d ${Math.ceil(dataBytes / 1024)} || exit 125`]),
    'exec "$@"',
  ].join('\n');
  return ['/bin/sh', '-c', script, 'sh', ...joinFiles, '--', ...command];
}

/**
 * Runs in place: says on standard error that all stands, then makes standard error one with standard output and
 * becomes the command.
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
 * Runs inside, as the first process of its namespace: says on standard error that the sandbox stands, runs the
 * command with its standard error made one with standard output, and stays, to collect what its descendants leave.
 * When it ends, the kernel kills all others. What the driver and this shell have to say therefore never mixes with
 * the command's output. With `report` it ends by saying what the control group counted, each line after the file's name.
 */
export function firstCommand(marker: string, argv: readonly string[], options: FirstOptions): string[] {
  const { folder, processes = null, report = false, become = [] } = options;
  const script = [
    ...(processes === null ? [] : [processLimit(processes)]),
    // From the command's own process, so that from then on there is one to signal.
    `(echo "$1" >&2; shift; exec 2>&1; ${become.length > 0 ? 'exec "$@"' : enterAndRun})`,
    'code=$?',
    ...(report ? groupFiles.map(reportLine) : []),
    'exit $code',
  ];
  // Only the user whose folder it is can be sure to enter it.
  const entering = become.length > 0 ? [...become, '/bin/sh', '-c', enterAndRun, 'sh'] : [];
  return ['/bin/sh', '-c', script.join('\n'), 'sh', marker, ...entering, folder, ...argv];
}

export interface FirstOptions {
  /** Where the command runs. An earlier command may have closed it: that is this one's failure, not the sandbox's. */
  folder: string;
  /** As many as its user may run; null: something else limits them. */
  processes?: number | null;
  report?: boolean;
  /** The command by which the command's process, and no other, becomes another user. */
  become?: readonly string[];
}

const enterAndRun = 'cd -P -- "$1" || exit 126; shift; unset OLDPWD; exec "$@"';

function reportLine(file: string): string {
  const path = `/sys/fs/cgroup/${file}`;
  return `[ -r ${path} ] && while read -r line; do echo "${basename(file)} $line"; done < ${path} >&2`;
}

/** dash knows the number as -p, other shells as -u. */
function processLimit(processes: number): string {
  return `{ ulimit -u ${processes} || ulimit -p ${processes} || exit 125; } 2> /dev/null`;
}
