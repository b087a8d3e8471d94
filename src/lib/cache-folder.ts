import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * The folder of prepared data and Python environments: MLAB_CACHE, else mlagentbench in XDG_CACHE_HOME, else in the
 * home folder.
 */
export function cacheFolder(variables: Readonly<Record<string, string | undefined>>): string {
  if (variables.MLAB_CACHE) return resolve(variables.MLAB_CACHE);
  // The XDG specification wants relative paths ignored.
  if (variables.XDG_CACHE_HOME && isAbsolute(variables.XDG_CACHE_HOME))
    return join(variables.XDG_CACHE_HOME, 'mlagentbench');
  return join(variables.HOME || homedir(), '.cache', 'mlagentbench');
}
