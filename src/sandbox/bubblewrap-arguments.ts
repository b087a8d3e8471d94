import { dirname } from 'node:path';
import { switchingCapabilities } from './agent-user.ts';
import { outermostFirst } from './mount-plan.ts';
import { heldFolders } from './mount-targets.ts';
import { isWithin } from './paths.ts';
import { insideUser } from './runtime-folder.ts';
import type { Mount, SandboxSpec } from './sandbox.ts';
import { gpuDevices, systemLinks } from './system-folders.ts';
import { variablesOf } from './variables.ts';

export interface BubblewrapFeatures {
  /** Known since bubblewrap 0.8. */
  disableUserNamespaces: boolean;
  /** The first process is root without rights but to make the command another user; else all are one ordinary user. */
  switchesUser: boolean;
}

/** One step that lays something at a path. */
interface Layer {
  path: string;
  options: string[];
}

/**
 * All that is the same for every command of a sandbox.
 * @param mounts outer ones before inner ones
 */
export function bubblewrapArguments(
  spec: SandboxSpec,
  mounts: readonly Mount[],
  features: BubblewrapFeatures,
): string[] {
  const layers: Layer[] = [
    ...[...systemLinks()].map(([path, target]) => ({ path, options: ['--symlink', target, path] })),
    { path: '/proc', options: ['--proc', '/proc'] },
    { path: '/dev', options: ['--dev', '/dev'] },
    { path: '/tmp', options: temporaryFolder('/tmp', spec.limits.temporaryBytes) },
    { path: '/dev/shm', options: temporaryFolder('/dev/shm', spec.limits.temporaryBytes) },
    ...(spec.gpu ? gpuDevices().map((path) => ({ path, options: ['--dev-bind', path, path] })) : []),
    ...[...mounts, ...heldFolders(mounts)].map((mount) => ({
      path: mount.target,
      options: mountOptions(mount),
    })),
  ];
  const parents = parentsOf(layers, mounts);
  return [
    ...namespaceOptions(features),
    ...outermostFirst([...parents, ...layers], ({ path }) => path).flatMap(({ options }) => options),
    ...['/proc', '/dev', '/'].flatMap((path) => ['--remount-ro', path]),
    ...Object.entries(variablesOf(spec)).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
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

function namespaceOptions(features: BubblewrapFeatures): string[] {
  return [
    '--unshare-pid',
    '--as-pid-1',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-net',
    '--unshare-cgroup-try',
    '--hostname',
    'sandbox',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    ...(features.switchesUser
      ? switchingCapabilities.flatMap((name) => ['--cap-add', name])
      : ownUserNamespace(features)),
    '--clearenv',
  ];
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
