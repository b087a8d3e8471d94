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

/** What root's launcher needs to make namespaces, and to change the user of others in them. */
const launcherCapabilities = ['CAP_SYS_ADMIN', 'CAP_NET_ADMIN', ...switchingCapabilities];

/** One step that puts something at a path. */
interface Layer {
  path: string;
  options: string[];
}

/**
 * What confines a launcher: everything that is the same for all commands of a sandbox, above all its mounts.
 * @param mounts outer ones before inner ones
 */
export function launcherArguments(
  spec: SandboxSpec,
  mounts: readonly Mount[],
  features: BubblewrapFeatures,
): string[] {
  const places = ['/tmp', '/dev/shm'].map((path) => ({ path, options: ['--dir', path] }));
  return [
    ...['--unshare-pid', '--as-pid-1', '--unshare-ipc', '--unshare-uts', '--unshare-net'],
    ...['--unshare-cgroup-try', '--hostname', 'sandbox', '--die-with-parent', '--new-session'],
    ...launcherRights(features.switchesUser),
    '--clearenv',
    ...laid([...systemLayers(spec, mounts), ...places], mounts),
    ...['/dev', '/'].flatMap((path) => ['--remount-ro', path]),
    ...Object.entries(variablesOf(spec)).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** What confines one command if its launcher is not confined: everything. */
export function wholeArguments(
  spec: SandboxSpec,
  mounts: readonly Mount[],
  features: BubblewrapFeatures,
): string[] {
  const fresh = ['/tmp', '/dev/shm'].map((path) => ({
    path,
    options: temporaryFolder(path, spec.limits.temporaryBytes),
  }));
  return [
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
    ...['--hostname', 'sandbox', '--die-with-parent', '--new-session'],
    ...commandRights(features),
    '--clearenv',
    ...laid([...systemLayers(spec, mounts), ...fresh], mounts),
    ...['/proc', '/dev', '/'].flatMap((path) => ['--remount-ro', path]),
    ...['--chdir', '/'],
    ...Object.entries(variablesOf(spec)).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
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

/** What confines one command inside the launcher: what is new for each command, and rights that are given up. */
export function commandArguments(
  spec: SandboxSpec,
  mounts: readonly Mount[],
  features: BubblewrapFeatures,
): string[] {
  const fresh = ['/tmp', '/dev/shm'];
  const within = [...mounts, ...heldFolders(mounts)].filter(({ target }) =>
    fresh.some((path) => isWithin(path, target)),
  );
  const layers: Layer[] = [
    { path: '/proc', options: ['--proc', '/proc'] },
    ...fresh.map((path) => ({ path, options: temporaryFolder(path, spec.limits.temporaryBytes) })),
    // Entries of the launcher would be covered.
    ...within.map((mount) => ({
      path: mount.target,
      options: mountOptions({ ...mount, source: mount.target }),
    })),
  ];
  return [
    ...['--unshare-pid', '--unshare-ipc', '--unshare-net', '--die-with-parent', '--new-session'],
    ...commandRights(features),
    // With devices: those of the launcher are the only ones.
    ...['--dev-bind', '/', '/'],
    ...laid(layers, mounts, fresh),
    ...['--remount-ro', '/proc', '--chdir', '/'],
  ];
}

/** Outermost first, each after its parent folders. */
function laid(
  layers: readonly Layer[],
  mounts: readonly Mount[],
  below: readonly string[] = ['/'],
): string[] {
  const parents = parentsOf(layers, mounts).filter(({ path }) =>
    below.some((folder) => folder !== path && isWithin(folder, path)),
  );
  return outermostFirst([...parents, ...layers], ({ path }) => path).flatMap(({ options }) => options);
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

export function launcherRights(switchesUser: boolean): string[] {
  return switchesUser
    ? ['--cap-drop', 'ALL', ...launcherCapabilities.flatMap((name) => ['--cap-add', name])]
    : ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'ALL'];
}

function commandRights(features: BubblewrapFeatures): string[] {
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
