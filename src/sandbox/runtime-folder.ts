import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';
import { orphansIn, ownedName } from './owner.ts';

/** The user that processes in the sandbox are. */
export const insideUser = { name: 'agent', uid: 1000, gid: 1000, home: '/tmp' };

const files = {
  passwd: [
    'root:x:0:0:root:/nonexistent:/usr/sbin/nologin',
    `${insideUser.name}:x:${insideUser.uid}:${insideUser.gid}::${insideUser.home}:/bin/sh`,
    'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
  ],
  group: ['root:x:0:', `${insideUser.name}:x:${insideUser.gid}:`, 'nogroup:x:65534:'],
  hosts: ['127.0.0.1 localhost sandbox', '::1 localhost sandbox'],
  'nsswitch.conf': ['passwd: files', 'group: files', 'hosts: files'],
} as const;

/** A folder of the harness for one sandbox, seen by no process inside: made-up system files, pipes, argument files. */
export class RuntimeFolder implements Disposable {
  readonly path: string;

  constructor() {
    const parent = tmpdir();
    for (const orphan of orphansIn(parent)) removeQuietly(join(parent, orphan));
    this.path = mkdtempSync(join(parent, ownedName('sandbox-')));
    try {
      mkdirSync(join(this.path, 'etc'));
      for (const [name, lines] of Object.entries(files)) this.write(`etc/${name}`, `${lines.join('\n')}\n`);
      this.write('empty', '');
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Each file that replaces one of the host's, with the path at which it is seen. */
  get systemFiles(): { source: string; target: string }[] {
    return Object.keys(files).map((name) => ({
      source: join(this.path, 'etc', name),
      target: `/etc/${name}`,
    }));
  }

  /** An empty file, to cover others with. */
  get emptyFile(): string {
    return join(this.path, 'empty');
  }

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name);
    writeFileSync(path, content, { mode: 0o644 });
    return path;
  }

  [Symbol.dispose](): void {
    removeTree(this.path);
  }
}

/** Another user's is not ours to remove. */
function removeQuietly(path: string): void {
  try {
    removeTree(path);
  } catch {
    // Its owner's next start removes it.
  }
}
