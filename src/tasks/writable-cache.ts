import { hasCode, UserError } from '../lib/errors.ts';

/** Turns errors about writing to the cache into a message for people. */
export async function withWritableCache<Result>(cache: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].some((code) => hasCode(error, code))) throw error;
    throw new UserError(
      'cache_not_writable',
      `the cache folder ${cache} can't be written`,
      'set MLAB_CACHE to a folder of your own, or correct the permissions of this one',
      { cause: error },
    );
  }
}
