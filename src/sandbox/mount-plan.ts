import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { concealedPlaces } from './concealed.ts';
import { hostPathOf, placesOf } from './mount-targets.ts';
import { isWithin } from './paths.ts';
import type { Mount, SandboxSpec } from './sandbox.ts';
import { gpuLibraries, pythonView, type ShownMount, type SystemView, systemView } from './system-folders.ts';
import { filesWith } from './withheld-files.ts';

/** What is mounted that is not the host's. */
export interface OwnFolders {
  /** What is seen as /etc, outer ones before inner ones. */
  etc(): Mount[];
  emptyFile(): string;
  /** An empty folder but for places to mount on, by their paths in it. */
  emptyFolder(places: readonly MountPlace[]): string;
}

export interface MountPlace {
  path: string;
  isFolder: boolean;
}

/** The system's own folders come from an image. */
type System = 'host' | 'image';

/** Installations that an image has its own of. */
const ofImages = ['/usr', '/usr/local'];

/**
 * All mounts of a sandbox, those that cover something included, outer ones before inner ones, each target once.
 * @throws SandboxError when something that must not be seen can't be covered
 */
export async function planMounts(spec: SandboxSpec, system: System, own: OwnFolders): Promise<Mount[]> {
  const view = viewOf(spec, system, own);
  const wanted = spec.mounts.map((mount): ShownMount => ({ ...mount, meant: mount.source }));
  // One place shows one thing: of two mounts the later.
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

/** A path's parents come before it, whatever the order they were named in; equals keep theirs. */
export function outermostFirst<Item>(items: readonly Item[], pathOf: (item: Item) => string): Item[] {
  const depth = (item: Item) => pathOf(item).split('/').filter(Boolean).length;
  return [...items].sort((first, second) => depth(first) - depth(second));
}

function viewOf(spec: SandboxSpec, system: System, own: OwnFolders): Pick<SystemView, 'mounts' | 'covers'> {
  const host = system === 'host' ? systemView() : { mounts: [], covers: [] };
  const libraries = system === 'host' && (spec.gpus ?? []).length > 0 ? gpuLibraries() : [];
  const installed = system === 'host' ? ['/usr'] : ofImages;
  const pythons = [spec.python ?? [], ...(spec.otherPythons ?? [])].flat();
  const shown = pythons.map((python) => pythonView(python, installed));
  return {
    mounts: [
      ...(system === 'host' ? own.etc().map((mount) => ({ ...mount, meant: mount.source })) : []),
      ...host.mounts,
      ...libraries,
      ...shown.flatMap(({ mounts }) => mounts),
    ],
    covers: [...host.covers, ...shown.flatMap(({ covers }) => covers)],
  };
}

/** Covers of all these places but those that lie in one that is covered itself. What is mounted below one stays. */
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
