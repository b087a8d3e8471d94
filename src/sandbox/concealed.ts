import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type HostMounts, holds, hostMounts, type Location, locationOf } from './host-mounts.ts';
import { mountAt } from './mount-targets.ts';
import { realPath } from './paths.ts';
import { SandboxError } from './sandbox.ts';
import type { ShownMount } from './system-folders.ts';

/** A part of the host's tree that a mount shows. */
interface View {
  /** Path on the host. */
  host: string;
  /** Path inside. */
  inside: string;
  location: Location;
}

/**
 * The paths inside at which mounts show a concealed folder, by whatever path or bind mount of the host.
 * @throws SandboxError if one can't be covered, because it is the whole of a mount
 */
export function concealedPlaces(
  concealed: readonly string[],
  mounts: readonly ShownMount[],
  host: HostMounts = hostMounts(),
): string[] {
  const folders = [...new Set(concealed.map(realPath))]
    .filter((path) => path !== null)
    .map((path) => ({ path, location: locationOf(path, host) }));
  const places = mounts.flatMap((mount) => {
    const [whole, ...submounts] = viewsOf(mount, host);
    if (whole === undefined) return [];
    const found = folders.flatMap((folder) => {
      const isInside = holds(folder.location, whole.location);
      if (isInside && !isIntended(mount, folder.location, host)) throw notCoverable(folder.path, mount);
      return [...(isInside ? [] : [whole]), ...submounts].flatMap((view) =>
        placeIn(view, folder.location, isInside, host),
      );
    });
    return found.filter((path) => mountAt(path, mounts) === mount);
  });
  return [...new Set(places)];
}

/** A mount, and everything mounted below its source on the host, which comes along. */
function viewsOf(mount: ShownMount, host: HostMounts): View[] {
  const source = realPath(mount.source);
  if (source === null) return [];
  const views = [{ host: source, inside: mount.target, location: locationOf(source, host) }];
  const below = source === '/' ? source : `${source}/`;
  for (const point of host.keys()) {
    if (point === source || !point.startsWith(below) || !existsSync(point)) continue;
    const inside = join(mount.target, relative(source, point));
    views.push({ host: point, inside, location: locationOf(point, host) });
  }
  return views;
}

/** Where a view shows the folder. Whatever is mounted within an intended mount is intended, too. */
function placeIn(view: View, folder: Location, isIntended: boolean, host: HostMounts): string[] {
  if (holds(view.location, folder)) {
    const rest = relative(view.location.path, folder.path);
    const path = join(view.host, rest);
    // Another file system may be mounted on the way.
    const there = existsSync(path) ? locationOf(path, host) : null;
    return there?.device === folder.device && there.path === folder.path ? [join(view.inside, rest)] : [];
  }
  return !isIntended && holds(folder, view.location) ? [view.inside] : [];
}

/** Whether this part of the folder is shown on purpose: by a mount of a spec, or a Python below it. */
function isIntended({ intended, source }: ShownMount, folder: Location, host: HostMounts): boolean {
  if (intended === undefined) return false;
  const location = locationOf(realPath(intended) ?? intended, host);
  return holds(folder, location) && (intended === source || location.path !== folder.path);
}

function notCoverable(folder: string, { source }: ShownMount): SandboxError {
  return new SandboxError(
    `${folder} must not be seen in a sandbox, but ${source}, which a sandbox needs, lies in it`,
    `keep what belongs to mlab in a folder that does not hold ${source}`,
  );
}
