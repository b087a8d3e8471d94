import { closeSync, linkSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { hasCode } from './errors.ts';

/** What `link` says on a file system without hard links: some on USB sticks, network folders, FUSE. */
const withoutLinks = ['EPERM', 'ENOTSUP', 'ENOSYS'];

/**
 * Gives a draft a second name if there is no such file yet; false if there is one. Where that is impossible, the file is
 * written anew: still exclusively, but a reader may see it while it is written.
 * @param content of the draft
 */
export function linkDraft(draft: string, path: string, content: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    if (!withoutLinks.some((code) => hasCode(error, code))) throw error;
    return createWithoutLinks(path, content);
  }
}

function createWithoutLinks(path: string, content: string): boolean {
  const file = openIfNew(path);
  if (file === null) return false;
  try {
    writeFileSync(file, content, { flush: true });
    return true;
  } catch (error) {
    rmSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Null if it exists already. */
function openIfNew(path: string): number | null {
  try {
    return openSync(path, 'wx');
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return null;
    throw error;
  }
}
