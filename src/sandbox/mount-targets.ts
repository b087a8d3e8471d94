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
  const names = relative(outer.target, inner.target).split('/');
  for (const [index] of names.entries()) {
    const path = join(outer.source, ...names.slice(0, index + 1));
    const stat = lstatSync(path, { throwIfNoEntry: false });
    // Made when the mount is.
    if (stat === undefined) return;
    if (stat.isSymbolicLink()) throw inTheWay(path, 'a symbolic link', inner);
    if (!stat.isDirectory() && index < names.length - 1) throw inTheWay(path, 'no folder', inner);
  }
}

function inTheWay(path: string, what: string, { target }: Mount): SandboxError {
  return new SandboxError(`${path} is ${what} where ${target} is to be mounted`, `remove ${path}`);
}
