import { matchesGlob, posix } from 'node:path';

/** Whether one of these globs of `read_only` matches the path, or a folder that it is in. */
export function matchesReadOnly(globs: readonly string[], path: string): boolean {
  const normal = globs.map((glob) => posix.normalize(glob).replace(/\/+$/, ''));
  const parts = path.split('/');
  const places = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  return normal.some((glob) => places.some((place) => matchesWhole(place, glob)));
}

/** Names that begin with a dot are treated like others. */
function matchesWhole(path: string, glob: string): boolean {
  return matchesGlob(path, glob) || matchesGlob(path.replaceAll(/(^|\/)\./g, '$1_'), glob);
}
