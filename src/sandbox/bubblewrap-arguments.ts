import { dirname } from 'node:path';
import { switchingCapabilities } from './agent-user.ts';
import { outermostFirst } from './mount-plan.ts';
import { heldFolders } from './mount-targets.ts';
import { isWithin } from './paths.ts';
import type { Mount, SandboxSpec } from './sandbox.ts';
import { insideUser } from './system-files.ts';
import { systemLinks } from './system-folders.ts';
import { variablesOf } from './variables.ts';

export interface BubblewrapFeatures {
  /** Supported since bubblewrap 0.8. */
  disableUserNamespaces: boolean;
  /** Root runs commands as another user; otherwise all processes are one ordinary user. */
  switchesUser: boolean;
}

/** Private to a sandbox, in memory. */
export const temporaryFolders = ['/tmp', '/dev/shm'];

/** Where the shell of a launcher lies inside. */
export const launcherShell = '/.launcher/sh';

/** One step that puts something at a path. */
interface Layer {
  path: string;
  options: string[];
}

/**
 * What confines a launcher and, with it, every command that it starts.
 * @param mounts outer ones before inner ones
 * @param shell the open file with the launcher's shell
 */
export function sandboxArguments(
  spec: SandboxSpec,
  mounts: readonly Mount[],
  features: BubblewrapFeatures,
  shell: number,
): string[] {
  const temporary = temporaryFolders.map((path) => ({
    path,
    options: temporaryFolder(path, spec.limits.temporaryBytes),
  }));
  // A process that runs an unreadable program can't be traced or opened by others of its user.
  const launcher = {
    path: launcherShell,
    options: ['--perms', '0111', '--ro-bind-data', String(shell), launcherShell],
  };
  return [
    ...['--unshare-pid', '--as-pid-1', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
    ...['--unshare-cgroup-try', '--hostname', 'sandbox', '--die-with-parent', '--new-session'],
    ...rights(features),
    '--clearenv',
    ...laid([...systemLayers(spec, mounts), ...temporary, launcher], mounts),
    ...closedFolders(spec).flatMap((path) => ['--remount-ro', path]),
    ...['--chdir', '/'],
    ...Object.entries(variablesOf(spec)).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** CUDA names its threads in /proc, and fails where it can't. There, processes may change their own entries only. */
function closedFolders({ gpus = [] }: SandboxSpec): string[] {
  return gpus.length > 0 ? ['/dev', '/'] : ['/proc', '/dev', '/'];
}

function systemLayers(spec: SandboxSpec, mounts: readonly Mount[]): Layer[] {
  return [
    ...[...systemLinks()].map(([path, target]) => ({ path, options: ['--symlink', target, path] })),
    { path: '/proc', options: ['--proc', '/proc'] },
    { path: '/dev', options: ['--dev', '/dev'] },
    ...deviceLayers(spec),
    ...[...mounts, ...heldFolders(mounts)].map((mount) => ({
      path: mount.target,
      options: mountOptions(mount),
    })),
  ];
}

/**
 * The device files of each GPU of the run, and those that all GPUs share; no other device file of the host is there.
 */
function deviceLayers({ gpus = [] }: SandboxSpec): Layer[] {
  const files = new Map(gpus.flatMap(({ devices }) => devices).map(({ source, target }) => [target, source]));
  return [...files].map(([path, source]) => ({ path, options: ['--dev-bind', source, path] }));
}

/** Outermost first, each after its parent folders. */
function laid(layers: readonly Layer[], mounts: readonly Mount[]): string[] {
  return outermostFirst([...parentsOf(layers, mounts), ...layers], ({ path }) => path).flatMap(
    ({ options }) => options,
  );
}

/**
 * The parent folders of mounts, made before them: bubblewrap would make them accessible to their owner only. Folders
 * within a mount belong to the host.
 */
function parentsOf(layers: readonly Layer[], mounts: readonly Mount[]): Layer[] {
  const parents = new Set<string>();
  for (const { path } of layers) {
    for (let parent = dirname(path); parent !== '/'; parent = dirname(parent)) parents.add(parent);
  }
  return [...parents]
    .filter((path) => !layers.some((layer) => layer.path === path))
    .filter((path) => !mounts.some(({ target }) => isWithin(target, path)))
    .map((path) => ({ path, options: ['--perms', '0755', '--dir', path] }));
}

function rights(features: BubblewrapFeatures): string[] {
  const kept = features.switchesUser
    ? switchingCapabilities.flatMap((name) => ['--cap-add', name])
    : ownUserNamespace(features);
  return ['--cap-drop', 'ALL', ...kept];
}

function ownUserNamespace(features: BubblewrapFeatures): string[] {
  return [
    '--unshare-user',
    ...(features.disableUserNamespaces ? ['--disable-userns'] : []),
    ...['--uid', String(insideUser.uid), '--gid', String(insideUser.gid)],
  ];
}

function mountOptions({ source, target, access }: Mount): string[] {
  return [access === 'write' ? '--bind' : '--ro-bind', source, target];
}

function temporaryFolder(path: string, bytes: number): string[] {
  return ['--perms', '1777', '--size', String(bytes), '--tmpfs', path];
}
