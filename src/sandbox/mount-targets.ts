import { lstatSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Mount, SandboxError } from './sandbox.ts';
import { isWithin } from './system-folders.ts';

/**
 * A mount that lies within a writable one is laid over a path that commands may have changed: a link there would
 * lead the mount, and the folders made for it, somewhere else on the host.
 * @throws SandboxError when there is one.
 */
export function checkMountTargets(mounts: readonly Mount[]): void {
  for (const outer of mounts.filter(({ access }) => access === 'write')) {
    for (const inner of mounts) {
      if (inner.target !== outer.target && isWithin(outer.target, inner.target)) checkPath(outer, inner);
    }
  }
}

function checkPath(outer: Mount, inner: Mount): void {
  let path = outer.source;
  for (const name of relative(outer.target, inner.target).split('/')) {
    path = join(path, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    throw new SandboxError(
      `${path} is a symbolic link where ${inner.target} is to be mounted`,
      `remove ${path}`,
    );
  }
}
