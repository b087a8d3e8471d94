import { readFileSync } from 'node:fs';
import type { Mount, SandboxSpec } from './sandbox.ts';
import { variablesOf } from './variables.ts';

/** What the arguments depend on besides the spec. */
export interface ContainerFacts {
  isPodman: boolean;
  /** The user of the container's processes. */
  user: { uid: number; gid: number };
  /** Null: the host's system folders are mounted into an empty image. */
  image: string | null;
  seccompProfile: string;
  mounts: readonly Mount[];
}

/** The waiting first process. */
const ownProcesses = 1;
const openFiles = 4096;

/** `run …` up to, not including, the arguments that differ from command to command. */
export function containerArguments(spec: SandboxSpec, facts: ContainerFacts): string[] {
  const { limits } = spec;
  return [
    ...['--network', 'none', '--ipc', 'private', '--hostname', 'sandbox', '--read-only', '--pull', 'never'],
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--security-opt', `seccomp=${facts.seccompProfile}`],
    ...['--user', `${facts.user.uid}:${facts.user.gid}`],
    ...['--pids-limit', String(limits.processes + ownProcesses)],
    ...['--memory', String(limits.memoryBytes), '--memory-swap', String(limits.memoryBytes)],
    ...['--ulimit', `fsize=${limits.fileBytes}:${limits.fileBytes}`, '--ulimit', 'core=0:0'],
    // Set explicitly, because engines otherwise request more than a restricted host may grant.
    ...['--ulimit', `nofile=${openFiles}:${openFiles}`, '--ulimit', `nproc=${processLimit()}`],
    ...['--shm-size', String(limits.temporaryBytes)],
    ...['--tmpfs', `/tmp:rw,nosuid,nodev,mode=1777,size=${limits.temporaryBytes}`],
    ...podmanArguments(facts),
    ...gpuArguments(spec, facts),
    ...facts.mounts.flatMap((mount) => ['--mount', mountOption(mount)]),
    ...Object.entries(variables(spec, facts)).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...['--entrypoint', '/bin/sh'],
  ];
}

/** Podman names devices by the Container Device Interface, for which nvidia-ctk generates descriptions. */
function gpuArguments({ gpus = [] }: SandboxSpec, { isPodman }: ContainerFacts): string[] {
  const names = gpus.map(({ uuid }) => uuid);
  if (names.length === 0) return [];
  if (isPodman) return names.flatMap((name) => ['--device', `nvidia.com/gpu=${name}`]);
  // One field of a CSV record, quoted because of its commas.
  return ['--gpus', `"device=${names.join(',')}"`];
}

/** As one CSV record, the form that the command line expects. */
export function mountOption({ source, target, access }: Mount): string {
  const fields = [
    'type=bind',
    `source=${source}`,
    `target=${target}`,
    ...(access === 'read' ? ['readonly'] : []),
  ];
  return fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
}

function podmanArguments(facts: ContainerFacts): string[] {
  if (!facts.isPodman) return [];
  // Not decided by the user inside, who is an ordinary one even if the harness is root.
  const rootless = process.getuid?.() !== 0;
  return ['--http-proxy=false', '--read-only-tmpfs=false', ...(rootless ? ['--userns', 'keep-id'] : [])];
}

/** An image sets its own PATH, unless a Python environment must come first, and has the driver where it looks for it. */
function variables(spec: SandboxSpec, facts: ContainerFacts): Record<string, string> {
  const all = variablesOf(spec);
  const keepsPath = facts.image !== null && spec.python === null;
  const ofImage = [...(keepsPath ? ['PATH'] : []), ...(facts.image === null ? [] : ['LD_LIBRARY_PATH'])];
  return Object.fromEntries(Object.entries(all).filter(([name]) => !ofImage.includes(name)));
}

/**
 * The number per user is not what limits a container (that is --pids-limit), so it is as high as this host allows: an
 * engine may have lowered its own to the number of process ids.
 */
function processLimit(): string {
  const hard = /^Max processes\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  const ids = Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'));
  const limit = Math.min(Number(hard ?? ids), ids);
  return `${limit}:${limit}`;
}
