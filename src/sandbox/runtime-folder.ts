import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';
import { ownedFolder } from './owned-folder.ts';
import type { Mount } from './sandbox.ts';
import { accountsOf, insideUser, openToReaders, systemFiles } from './system-files.ts';

/**
 * A folder of the harness for one sandbox, closed to others and invisible inside: pipes, argument files, covers with
 * mount points. Parts of it may be shown to processes, which can then read them.
 */
export class RuntimeFolder implements Disposable {
  readonly path: string;
  readonly #user: { uid: number; gid: number };
  #emptyFolders = 0;

  /** @param user whom processes inside see as themselves */
  constructor(user: { uid: number; gid: number } = insideUser) {
    this.path = ownedFolder('sandbox');
    this.#user = user;
  }

  /** What is shown as /etc, with this user's files over it. */
  etc(): Mount[] {
    const shared: Mount = { source: systemFiles().etc, target: '/etc', access: 'read' };
    if (this.#user.uid === insideUser.uid && this.#user.gid === insideUser.gid) return [shared];
    const own = Object.entries(accountsOf(this.#user)).map(
      ([name, content]): Mount => ({
        source: this.write(name, content),
        target: `/etc/${name}`,
        access: 'read',
      }),
    );
    return [shared, ...own];
  }

  /** An empty file, as a cover for others. */
  emptyFile(): string {
    return systemFiles().emptyFile;
  }

  /** An empty folder except for mount points, as a cover for others. */
  emptyFolder(places: readonly { path: string; isFolder: boolean }[] = []): string {
    if (places.length === 0) return systemFiles().emptyFolder;
    const folder = join(this.path, `nothing-${this.#emptyFolders++}`);
    mkdirSync(folder);
    for (const { path, isFolder } of places) {
      const place = join(folder, path);
      mkdirSync(isFolder ? place : dirname(place), { recursive: true });
      if (!isFolder) writeFileSync(place, '');
    }
    openToReaders(folder);
    return folder;
  }

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name);
    writeFileSync(path, content);
    chmodSync(path, 0o644);
    return path;
  }

  [Symbol.dispose](): void {
    removeTree(this.path);
  }
}
