import { relative } from 'node:path';
import { isFolder } from '../lib/files-there.ts';
import { concealedPlaces } from './concealed.ts';
import { hostPathOf, placesOf } from './mount-targets.ts';
import { isWithin } from './paths.ts';
import type { Mount, SandboxSpec } from './sandbox.ts';
import { gpuLibraries, pythonView, type ShownMount, type SystemView, systemView } from './system-folders.ts';
import { filesWith } from './withheld-files.ts';

/** Mounts that are not the host's. */
export interface OwnFolders {
  /** What is shown as /etc, outer ones before inner ones. */
  etc(): Mount[];
  emptyFile(): string;
  /** An empty folder except for mount points, by their paths in it. */
  emptyFolder(places: readonly MountPlace[]): string;
}

export interface MountPlace {
  path: string;
  isFolder: boolean;
}

/** Whether the system's own folders come from the host or an image. */
type System = 'host' | 'image';

/** Installations that an image has itself. */
const ofImages = ['/usr', '/usr/local'];

/**
 * All mounts of a sandbox, including covers, outer ones before inner ones, each target once.
 * @throws SandboxError if something that must not be seen can't be covered
 */
export async function planMounts(spec: SandboxSpec, system: System, own: OwnFolders): Promise<Mount[]> {
  const view = viewOf(spec, system, own);
  const wanted = spec.mounts.map((mount): ShownMount => ({ ...mount, intended: mount.source }));
  // Of two mounts with the same target the later one counts.
  const mounts = [...new Map([...view.mounts, ...wanted].map((mount) => [mount.target, mount])).values()];
  const closed = [...view.covers, ...concealedPlaces(spec.concealed, mounts)];
  const closedHere = closed.flatMap((path) => hostPathOf(path, mounts) ?? []);
  const hidden = [
    ...spec.hide.flatMap((path) => hostPathOf(path, mounts) ?? []),
    ...(await filesWith(spec.withheld, mounts, closedHere)),
  ].flatMap((path) => placesOf(path, mounts));
  const left = mounts.filter(({ target }) => !hidden.some((path) => isWithin(path, target)));
  const layers = [...withoutMeaning(left), ...coversOver([...closed, ...hidden], left, mounts, own)];
  const last = [...new Map(layers.map((mount) => [mount.target, mount])).values()];
  return outermostFirst(last, ({ target }) => target);
}

/** Sorts paths after their parents, whatever their order was; equal ones keep their order. */
export function outermostFirst<Item>(items: readonly Item[], pathOf: (item: Item) => string): Item[] {
  const depth = (item: Item) => pathOf(item).split('/').filter(Boolean).length;
  return [...items].sort((first, second) => depth(first) - depth(second));
}

function viewOf(spec: SandboxSpec, system: System, own: OwnFolders): Pick<SystemView, 'mounts' | 'covers'> {
  const host = system === 'host' ? systemView() : { mounts: [], covers: [] };
  const gpus = spec.gpus ?? [];
  const libraries = system === 'host' && gpus.length > 0 ? gpuLibraries(gpus) : [];
  const installed = system === 'host' ? ['/usr'] : ofImages;
  const pythons = [spec.python ?? [], ...(spec.otherPythons ?? [])].flat();
  const shown = pythons.map((python) => pythonView(python, installed));
  return {
    mounts: [
      ...(system === 'host' ? own.etc().map((mount) => ({ ...mount, intended: mount.source })) : []),
      ...host.mounts,
      ...libraries,
      ...shown.flatMap(({ mounts }) => mounts),
    ],
    covers: [...host.covers, ...shown.flatMap(({ covers }) => covers)],
  };
}

/** Covers for all these places except those within a place that is covered itself. Mounts below one stay. */
function coversOver(
  places: readonly string[],
  left: readonly Mount[],
  all: readonly Mount[],
  own: OwnFolders,
): Mount[] {
  const closed = new Set(places);
  return [...closed].flatMap((target): Mount[] => {
    const host = hostPathOf(target, all);
    if (host === null || closed.has(nearestAbove(target, [...closed, ...left.map((mount) => mount.target)])))
      return [];
    if (!isFolder(host)) return [{ source: own.emptyFile(), target, access: 'read' }];
    const below = left
      .filter((mount) => mount.target !== target && isWithin(target, mount.target))
      .map((mount) => ({ path: relative(target, mount.target), isFolder: isFolder(mount.source) }));
    return [{ source: own.emptyFolder(below), target, access: 'read' }];
  });
}

function nearestAbove(path: string, others: readonly string[]): string {
  return others
    .filter((other) => other !== path && isWithin(other, path))
    .reduce((best, other) => (other.length > best.length ? other : best), '');
}

function withoutMeaning(mounts: readonly ShownMount[]): Mount[] {
  return mounts.map(({ source, target, access }) => ({ source, target, access }));
}
