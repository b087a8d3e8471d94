import { existsSync } from 'node:fs';
import { insideUser, type RuntimeFolder } from './runtime-folder.ts';
import type { Mount, SandboxSpec } from './sandbox.ts';
import { gpuDevices, gpuLibraryFolders, placesOf, systemView } from './system-folders.ts';
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

const coverBytes = 4096;

/** All that is the same for every command of a sandbox. */
export function bubblewrapArguments(
  spec: SandboxSpec,
  runtime: Pick<RuntimeFolder, 'systemFiles' | 'emptyFile'>,
  features: BubblewrapFeatures,
): string[] {
  const view = systemView(spec.python);
  const mounts = [...view.mounts, ...libraryMounts(spec), ...spec.mounts];
  const covers = [...coversOf(view.covered, view.mounts)];
  const layers: Layer[] = [
    ...[...view.links].map(([path, target]) => ({ path, options: ['--symlink', target, path] })),
    { path: '/proc', options: ['--proc', '/proc'] },
    { path: '/dev', options: ['--dev', '/dev'] },
    { path: '/tmp', options: temporaryFolder('/tmp', spec.limits.temporaryBytes) },
    { path: '/dev/shm', options: temporaryFolder('/dev/shm', spec.limits.temporaryBytes) },
    ...(spec.gpu ? gpuDevices().map((path) => ({ path, options: ['--dev-bind', path, path] })) : []),
    ...mounts.map((mount) => ({ path: mount.target, options: mountOptions(mount) })),
    ...runtime.systemFiles.map(({ source, target }) => ({
      path: target,
      options: ['--ro-bind', source, target],
    })),
    ...covers.map((path) => ({ path, options: emptyFolder(path) })),
  ];
  const hidden = spec.hide.flatMap((path) => placesOf(path, mounts));
  const hiddenFolders = hidden.filter(({ isFolder }) => isFolder).map(({ path }) => path);
  const closed = ['/proc', '/dev', ...covers, ...hiddenFolders, '/'];
  return [
    ...namespaceOptions(features),
    ...outermostFirst(layers).flatMap(({ options }) => options),
    ...hidden.flatMap(({ path, isFolder }) =>
      isFolder ? emptyFolder(path) : ['--ro-bind', runtime.emptyFile, path],
    ),
    ...closed.flatMap((path) => ['--remount-ro', path]),
    ...Object.entries(variablesOf(spec)).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** A path's parents come before it, whatever the order they were named in; equals keep theirs. */
export function outermostFirst<Item extends { path: string }>(items: readonly Item[]): Item[] {
  const depth = (path: string) => path.split('/').filter(Boolean).length;
  return [...items].sort((first, second) => depth(first.path) - depth(second.path));
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

function emptyFolder(path: string): string[] {
  return ['--perms', '0755', '--size', String(coverBytes), '--tmpfs', path];
}

function libraryMounts(spec: SandboxSpec): Mount[] {
  const folders = spec.gpu ? gpuLibraryFolders() : [];
  return folders.map((path) => ({ source: path, target: path, access: 'read' }));
}

function coversOf(folders: readonly string[], mounts: readonly Mount[]): Set<string> {
  return new Set(
    folders
      .filter((path) => existsSync(path))
      .flatMap((path) => placesOf(path, mounts).map((place) => place.path)),
  );
}
