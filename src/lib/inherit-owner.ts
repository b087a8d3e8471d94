import { closeSync, constants, fchownSync, fstatSync, lchownSync, openSync, type PathLike } from 'node:fs';

/**
 * Gives a file that root has just made, by its descriptor, to the owner of its folder. In a workspace that is the user
 * as whom agent code runs. Does nothing for ordinary users, who own what they make.
 */
export function inheritOwner(folder: number, made: number): void {
  const owner = ownerOf(folder);
  if (owner === null) return;
  const { uid, nlink } = fstatSync(made);
  // A file with another name may be something else, too.
  if (uid === 0 && nlink === 1) fchownSync(made, owner.uid, owner.gid);
}

/** As `inheritOwner`, for a link, by its path: changes the link itself, not its target. */
export function inheritLinkOwner(folder: number, link: PathLike): void {
  const owner = ownerOf(folder);
  if (owner !== null) lchownSync(link, owner.uid, owner.gid);
}

/** As `inheritOwner`, for a folder, by its path, which is not followed if it has become a link. */
export function inheritFolderOwner(folder: number, made: PathLike): void {
  const owner = ownerOf(folder);
  if (owner === null) return;
  const descriptor = openSync(made, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    fchownSync(descriptor, owner.uid, owner.gid);
  } finally {
    closeSync(descriptor);
  }
}

/** Null if there is nothing to give away: only root can, and root's own folders stay root's. */
function ownerOf(folder: number): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const { uid, gid } = fstatSync(folder);
  return uid === 0 ? null : { uid, gid };
}
