import { outermostFirst } from './mount-plan.ts';
import { insideUser } from './runtime-folder.ts';
import type { Mount, SandboxSpec } from './sandbox.ts';
import { gpuDevices, systemView } from './system-folders.ts';
import { variablesOf } from './variables.ts';

export interface BubblewrapFeatures {
  /** Known since bubblewrap 0.8. */
  disableUserNamespaces: boolean;
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
    ...[...systemView().links].map(([path, target]) => ({ path, options: ['--symlink', target, path] })),
    { path: '/proc', options: ['--proc', '/proc'] },
    { path: '/dev', options: ['--dev', '/dev'] },
    { path: '/tmp', options: temporaryFolder('/tmp', spec.limits.temporaryBytes) },
    { path: '/dev/shm', options: temporaryFolder('/dev/shm', spec.limits.temporaryBytes) },
    ...(spec.gpu ? gpuDevices().map((path) => ({ path, options: ['--dev-bind', path, path] })) : []),
    ...mounts.map((mount) => ({ path: mount.target, options: mountOptions(mount) })),
  ];
  return [
    ...namespaceOptions(features),
    ...outermostFirst(layers, ({ path }) => path).flatMap(({ options }) => options),
    ...['/proc', '/dev', '/'].flatMap((path) => ['--remount-ro', path]),
    ...Object.entries(variablesOf(spec)).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

function namespaceOptions(features: BubblewrapFeatures): string[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    '--as-pid-1',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-net',
    '--unshare-cgroup-try',
    ...(features.disableUserNamespaces ? ['--disable-userns'] : []),
    '--uid',
    String(insideUser.uid),
    '--gid',
    String(insideUser.gid),
    '--hostname',
    'sandbox',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    '--clearenv',
  ];
}

function mountOptions({ source, target, access }: Mount): string[] {
  return [access === 'write' ? '--bind' : '--ro-bind', source, target];
}

function temporaryFolder(path: string, bytes: number): string[] {
  return ['--perms', '1777', '--size', String(bytes), '--tmpfs', path];
}
