import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { hasCode, UserError } from '../lib/errors.ts';
import type { Variables } from './host-variables.ts';

/** Where prepared data and Python environments are kept: MLAB_CACHE, else XDG_CACHE_HOME's mlagentbench, else the home's. */
export function cacheFolder(variables: Variables): string {
  if (variables.MLAB_CACHE) return resolve(variables.MLAB_CACHE);
  // The XDG specification wants relative paths ignored.
  if (variables.XDG_CACHE_HOME && isAbsolute(variables.XDG_CACHE_HOME))
    return join(variables.XDG_CACHE_HOME, 'mlagentbench');
  return join(variables.HOME || homedir(), '.cache', 'mlagentbench');
}

/** Says in a person's words that the cache can't be written. */
export async function withWritableCache<Result>(cache: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].some((code) => hasCode(error, code))) throw error;
    throw new UserError(
      'cache_not_writable',
      `the cache folder ${cache} can't be written`,
      'set MLAB_CACHE to a folder of your own, or correct the rights of this one',
      { cause: error },
    );
  }
}
