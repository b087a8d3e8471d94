import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Gpu, librariesOf } from './gpus/gpu.ts';
import { isWithin, realPath } from './paths.ts';
import type { Mount, PythonMount } from './sandbox.ts';
import { partsOf } from './shown-parts.ts';
import { pythonPrefix, topFolders } from './system-rules.ts';

/** What a sandbox shows of the host's system, besides the mounts in its spec. All read-only. */
export interface SystemView {
  mounts: ShownMount[];
  /** Paths inside, within these mounts, that are covered. */
  covers: string[];
}

export interface ShownMount extends Mount {
  /**
   * The host folder that is shown on purpose, all of it or in part, even within a concealed one; none for a part of the
   * system.
   */
  intended?: string;
}

/**
 * Of /etc, only what programs need to be found, to verify certificates and to tell the time. Small files are copied:
 * each mount costs time at the start of each command.
 */
const etc = {
  copied: [
    'ld.so.cache',
    'ld.so.conf',
    'ld.so.conf.d',
    'localtime',
    'timezone',
    'ssl/openssl.cnf',
    'pki/tls/openssl.cnf',
    'mime.types',
    'protocols',
    'services',
  ],
  mounted: [
    'alternatives',
    'ssl/certs',
    'pki/tls/certs',
    'pki/ca-trust/extracted',
    'crypto-policies',
    'fonts',
  ],
} as const;

/** Paths in /etc that exist. */
export function shownOfEtc(): { copied: string[]; mounted: string[] } {
  const isThere = (name: string) => existsSync(join('/etc', name));
  return { copied: etc.copied.filter(isThere), mounted: etc.mounted.filter(isThere) };
}

/** Whether a path inside belongs to the host's system, which nobody replaces while a sandbox lives. */
export function isOfSystem(path: string): boolean {
  return ['/etc', ...Object.keys(topFolders)].some((folder) => isWithin(folder, path));
}

/** Links at the top of the tree on a host with merged /usr: target by path. */
export function systemLinks(): Map<string, string> {
  const links = Object.keys(topFolders).filter((path) => isLink(path));
  return new Map(links.map((path) => [path, readlinkSync(path)]));
}

export function systemView(): SystemView {
  const view: SystemView = { mounts: [], covers: [] };
  for (const [path, shown] of Object.entries(topFolders)) {
    if (!existsSync(path) || isLink(path)) continue;
    const parts = partsOf(path, shown);
    view.mounts.push(...parts.mounts.map(readOnly));
    view.covers.push(...parts.covers);
  }
  view.mounts.push(...shownOfEtc().mounted.map((name) => readOnly(join('/etc', name))));
  return view;
}

/**
 * A Python environment, and what it needs of the installation from which it was made.
 * @param shared installations that are shown anyway
 */
export function pythonView(
  { environment, basePrefix }: PythonMount,
  shared: readonly string[] = ['/usr'],
): Pick<SystemView, 'mounts' | 'covers'> {
  const real = realPath(basePrefix) ?? basePrefix;
  const isThere = shared.includes(real) || realPath(environment) === real;
  const parts = isThere ? { mounts: [], covers: [] } : partsOf(real, pythonPrefix);
  const places = new Set([basePrefix, real]);
  const at = (place: string, path: string) => join(place, relative(real, path));
  const mounts = [...places].flatMap((place) =>
    parts.mounts.map((path) => ({ ...readOnly(path), target: at(place, path), intended: real })),
  );
  return {
    mounts: [...mounts, ...aliases(environment).map((mount) => ({ ...mount, intended: mount.source }))],
    covers: [...places].flatMap((place) => parts.covers.map((path) => at(place, path))),
  };
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Places of the driver's libraries and of CUDA's that are not shown otherwise. */
export function gpuLibraries(gpus: readonly Gpu[]): ShownMount[] {
  const local = existsSync('/usr/local')
    ? readdirSync('/usr/local').filter((name) => /^cuda(-|$)/.test(name))
    : [];
  const driver = ['/run/opengl-driver', '/run/nvidia/driver', '/opt/nvidia', '/usr/local/nvidia'];
  const folders = [...driver, ...local.map((name) => join('/usr/local', name)), ...librariesOf(gpus)];
  return folders.filter((path) => existsSync(path)).map((path) => ({ ...readOnly(path), intended: path }));
}

function readOnly(path: string): Mount {
  return { source: path, target: path, access: 'read' };
}

/** A folder under its own name and, if links lead to it, under its real one. */
function aliases(path: string): Mount[] {
  const real = realPath(path) ?? path;
  return [...new Set([path, real])].map((target) => ({ source: real, target, access: 'read' }));
}
