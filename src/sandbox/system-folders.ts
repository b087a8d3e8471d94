import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import type { Mount, PythonMount } from './sandbox.ts';

/** What a sandbox shows of the host's system, besides what its spec mounts. All read-only. */
export interface SystemView {
  mounts: Mount[];
  /** Links that stand at the top of the tree on a host with one /usr: target by path. */
  links: Map<string, string>;
  /** Folders that are covered: packages of Pythons other than the task's. */
  covered: string[];
}

const topFolders = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Of /etc only what programs need to be found, to verify certificates and to tell the time. */
const etcPaths = [
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'alternatives',
  'localtime',
  'timezone',
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/tls/certs',
  'pki/tls/openssl.cnf',
  'pki/ca-trust/extracted',
  'ca-certificates',
  'crypto-policies',
  'fonts',
  'mime.types',
  'protocols',
  'services',
];

export function systemView(python: PythonMount | null): SystemView {
  const links = new Map<string, string>();
  const mounts: Mount[] = [readOnly('/usr')];
  for (const path of topFolders) {
    if (!existsSync(path)) continue;
    if (lstatSync(path).isSymbolicLink()) links.set(path, readlinkSync(path));
    else mounts.push(readOnly(path));
  }
  for (const name of etcPaths) {
    if (existsSync(join('/etc', name))) mounts.push(readOnly(join('/etc', name)));
  }
  const pythonPaths = python === null ? [] : [...aliases(python.basePrefix), ...aliases(python.environment)];
  for (const path of pythonPaths) {
    if (!isWithin('/usr', path.target)) mounts.push(path);
  }
  return { mounts, links, covered: otherPackages(python) };
}

/** Graphics-card devices of this host. */
export function gpuDevices(): string[] {
  const names = existsSync('/dev') ? readdirSync('/dev').filter((name) => name.startsWith('nvidia')) : [];
  return names.map((name) => join('/dev', name)).sort();
}

/** Places of the driver's libraries that lie outside of /usr. */
export function gpuLibraryFolders(): string[] {
  return ['/run/opengl-driver', '/run/nvidia/driver', '/opt/nvidia'].filter((path) => existsSync(path));
}

/**
 * Where, inside, the host file behind an inside path shows up: at that path and at each other mount that holds it.
 * Empty when there is no such file.
 */
export function placesOf(path: string, mounts: readonly Mount[]): { path: string; isFolder: boolean }[] {
  const own = mounts
    .filter(({ target }) => isWithin(target, path))
    .sort((first, second) => first.target.length - second.target.length)
    .at(-1);
  if (own === undefined) return [];
  const source = realPath(join(own.source, relative(own.target, path)));
  if (source === null) return [];
  const isFolder = statSync(source).isDirectory();
  const places = new Set<string>();
  for (const mount of mounts) {
    const root = realPath(mount.source);
    if (root !== null && isWithin(root, source)) places.add(join(mount.target, relative(root, source)));
  }
  return [...places].map((place) => ({ path: place, isFolder }));
}

/** Whether `path` is `folder` or lies below it; both absolute and normal. */
export function isWithin(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest === '' || (!isAbsolute(rest) && rest !== '..' && !rest.startsWith('../'));
}

function readOnly(path: string): Mount {
  return { source: path, target: path, access: 'read' };
}

/** A folder under its own name and, where links lead to it, under its real one. */
function aliases(path: string): Mount[] {
  const real = realPath(path) ?? path;
  return [...new Set([path, real])].map((target) => ({ source: real, target, access: 'read' }));
}

function otherPackages(python: PythonMount | null): string[] {
  const prefixes = [
    '/usr',
    '/usr/local',
    ...(python === null ? [] : aliases(python.basePrefix).map(({ target }) => target)),
  ];
  const found = prefixes.flatMap((prefix) =>
    ['lib', 'lib64'].flatMap((library) =>
      foldersIn(join(prefix, library), /^python\d/).flatMap((folder) =>
        foldersIn(folder, /^(site|dist)-packages$/),
      ),
    ),
  );
  return [...new Set(found.map((folder) => realPath(folder) ?? folder))];
}

function foldersIn(folder: string, pattern: RegExp): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => pattern.test(name));
  return names
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
