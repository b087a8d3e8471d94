import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';
import { ownedFolder } from './owned-folder.ts';
import { shownOfEtc } from './system-folders.ts';

/** The user that processes in the sandbox are, where a user namespace or nothing gives them another one outside. */
export const insideUser = { name: 'agent', uid: 1000, gid: 1000, home: '/tmp' };

/** Content of made-up system files, by name. */
function systemFilesFor({ uid, gid }: { uid: number; gid: number }): Map<string, string[]> {
  return new Map([
    [
      'passwd',
      [
        'root:x:0:0:root:/nonexistent:/usr/sbin/nologin',
        `${insideUser.name}:x:${uid}:${gid}::${insideUser.home}:/bin/sh`,
        'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
      ],
    ],
    ['group', ['root:x:0:', `${insideUser.name}:x:${gid}:`, 'nogroup:x:65534:']],
    ['hosts', ['127.0.0.1 localhost sandbox', '::1 localhost sandbox']],
    // Engines of containers mount their own over these.
    ['hostname', ['sandbox']],
    ['resolv.conf', []],
    ['nsswitch.conf', ['passwd: files', 'group: files', 'hosts: files']],
  ]);
}

/**
 * A folder of the harness for one sandbox, closed to others, which no process inside sees: made-up system files, pipes,
 * argument files. What lies in it may be read by whoever it is shown to.
 */
export class RuntimeFolder implements Disposable {
  readonly path: string;
  #emptyFolders = 0;

  /** @param user whom processes inside see as theirs; null where they see the host's own system files */
  constructor(user: { uid: number; gid: number } | null = insideUser) {
    this.path = ownedFolder('sandbox');
    if (user === null) return;
    try {
      this.#makeEtc();
      for (const [name, lines] of systemFilesFor(user)) this.write(`etc/${name}`, `${lines.join('\n')}\n`);
      this.write('empty', '');
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** What is seen as /etc: made-up files, small ones of the host, and places to mount its larger folders on. */
  get etc(): string {
    return join(this.path, 'etc');
  }

  /** An empty file, to cover others with. */
  get emptyFile(): string {
    return join(this.path, 'empty');
  }

  /** An empty folder, to cover others with, but for places to mount on. */
  emptyFolder(places: readonly { path: string; isFolder: boolean }[] = []): string {
    const name = places.length === 0 ? 'nothing' : `nothing-${this.#emptyFolders++}`;
    const folder = join(this.path, name);
    mkdirSync(folder, { recursive: true });
    for (const { path, isFolder } of places) {
      const place = join(folder, path);
      mkdirSync(isFolder ? place : dirname(place), { recursive: true });
      if (!isFolder) writeFileSync(place, '');
    }
    return folder;
  }

  /** For processes that run as another user: its own folder stays closed. */
  openToReaders(): void {
    if (process.getuid?.() !== 0) return;
    // Few files and all of our own making, so that no program need be started for it.
    for (const entry of readdirSync(this.path, { recursive: true, withFileTypes: true })) {
      if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755);
      else if (entry.isFile()) chmodSync(join(entry.parentPath, entry.name), 0o644);
    }
  }

  #makeEtc(): void {
    const { copied, mounted } = shownOfEtc();
    for (const name of mounted) mkdirSync(join(this.etc, name), { recursive: true });
    for (const name of copied) {
      const [source, place] = [join('/etc', name), join(this.etc, name)];
      mkdirSync(dirname(place), { recursive: true });
      if (statSync(source).isDirectory()) cpSync(source, place, { recursive: true });
      else copyFileSync(source, place);
    }
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
