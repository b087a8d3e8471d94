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
  /** Known since bubblewrap 0.8. */
  disableUserNamespaces: boolean;
  /** Commands are made another user by root; else all processes are one ordinary user. */
  switchesUser: boolean;
}

/** What root's launcher needs to make namespaces, and to make others somebody else in them. */
const launcherCapabilities = ['CAP_SYS_ADMIN', 'CAP_NET_ADMIN', ...switchingCapabilities];

/** One step that lays something at a path. */
interface Layer {
  path: string;
  options: string[];
}

/**
 * What confines a launcher: all that is the same for every command of a sandbox, its mounts above all.
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

/** What confines one command whose launcher is not confined: all of it. */
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

/** Of each GPU that is given, and what all share; no other device file of the host's is there. */
function deviceLayers({ gpus = [] }: SandboxSpec): Layer[] {
  const files = new Map(gpus.flatMap(({ devices }) => devices).map(({ source, target }) => [target, source]));
  return [...files].map(([path, source]) => ({ path, options: ['--dev-bind', source, path] }));
}

/** What confines one command, in the launcher's place: what is fresh for each, and rights that are given up. */
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
    // What the launcher sees there would be covered.
    ...within.map((mount) => ({
      path: mount.target,
      options: mountOptions({ ...mount, source: mount.target }),
    })),
  ];
  return [
    ...['--unshare-pid', '--unshare-ipc', '--unshare-net', '--die-with-parent', '--new-session'],
    ...commandRights(features),
    // With devices: those of the launcher are all that there are.
    ...['--dev-bind', '/', '/'],
    ...laid(layers, mounts, fresh),
    ...['--remount-ro', '/proc', '--chdir', '/'],
  ];
}

/** Outermost first, each after the folders that lead to it. */
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
 * The folders that lead to what is laid somewhere, made before it: bubblewrap would close them to all but their owner.
 * What lies within a mount is the host's.
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
