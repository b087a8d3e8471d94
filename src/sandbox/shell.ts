import { basename } from 'node:path';
import type { SandboxLimits } from './sandbox.ts';

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
    `ulimit -f ${Math.ceil(limits.fileBytes / fileBlock)} || exit 125`,
    ...(dataBytes === null ? [] : [`ulimit -d ${Math.ceil(dataBytes / 1024)} || exit 125`]),
    'exec "$@"',
  ].join('\n');
  return ['/bin/sh', '-c', script, 'sh', ...joinFiles, '--', ...command];
}

/**
 * Runs inside: says on standard error that the sandbox stands, then makes standard error one with standard output
 * and becomes the command. What the driver itself has to say therefore never mixes with the command's output.
 */
export function innerCommand(marker: string, processes: number | null, argv: readonly string[]): string[] {
  return ['/bin/sh', '-c', `${prologue(processes)}\nexec "$@"`, 'sh', marker, ...argv];
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
 * The same for the first process of a container: it stays, to collect what its descendants leave, and at the end
 * says on the first standard error what its control group counted, each line after the file's name.
 */
export function containerCommand(marker: string, argv: readonly string[]): string[] {
  const script = [
    'exec 3>&2',
    prologue(null),
    '"$@" 3>&-',
    'code=$?',
    ...groupFiles.map(reportLine),
    'exit $code',
  ];
  return ['/bin/sh', '-c', script.join('\n'), 'sh', marker, ...argv];
}

function reportLine(file: string): string {
  const path = `/sys/fs/cgroup/${file}`;
  return `[ -r ${path} ] && while read -r line; do echo "${basename(file)} $line"; done < ${path} >&3`;
}

/** dash knows the number of processes as -p, other shells as -u. */
function prologue(processes: number | null): string {
  const limit =
    processes === null
      ? ''
      : `{ ulimit -u ${processes} || ulimit -p ${processes} || exit 125; } 2> /dev/null\n`;
  return `${limit}printf '%s\\n' "$1" >&2\nexec 2>&1\nshift`;
}
