import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';
import { ownedFolder } from './owned-folder.ts';
import { shownOfEtc } from './system-folders.ts';

/** The user of processes in the sandbox, if a user namespace maps it to another one outside, or nothing does. */
export const insideUser = { name: 'agent', uid: 1000, gid: 1000, home: '/tmp' };

/** Content of the files in /etc that list users, for this user. */
export function accountsOf({ uid, gid }: { uid: number; gid: number }): Record<string, string> {
  return {
    passwd: linesOf(
      'root:x:0:0:root:/nonexistent:/usr/sbin/nologin',
      `${insideUser.name}:x:${uid}:${gid}::${insideUser.home}:/bin/sh`,
      'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
    ),
    group: linesOf('root:x:0:', `${insideUser.name}:x:${gid}:`, 'nogroup:x:65534:'),
  };
}

const madeUp: Readonly<Record<string, string>> = {
  hosts: linesOf('127.0.0.1 localhost sandbox', '::1 localhost sandbox'),
  // Container engines mount their own over these.
  hostname: linesOf('sandbox'),
  'resolv.conf': '',
  'nsswitch.conf': linesOf('passwd: files', 'group: files', 'hosts: files'),
};

/**
 * What every sandbox of this process shows in the same way, read-only. World-readable, in a folder that is closed to
 * others.
 */
export interface SystemFiles {
  /** What is shown as /etc: generated files, small ones of the host, and mount points for its larger folders. */
  etc: string;
  /** A cover for files. */
  emptyFile: string;
  /** A cover for folders. */
  emptyFolder: string;
}

/** Folders that this process has made, by the folder for temporary files that contains them. */
const made = new Map<string, string>();

/**
 * Made once per process, and again if somebody has cleared the folder for temporary files; removed when the process
 * ends.
 */
export function systemFiles(): SystemFiles {
  const within = tmpdir();
  const known = made.get(within);
  const folder = known !== undefined && existsSync(join(known, 'empty')) ? known : makeSystemFiles();
  if (made.size === 0) process.once('exit', removeAll);
  made.set(within, folder);
  return { etc: join(folder, 'etc'), emptyFile: join(folder, 'empty'), emptyFolder: join(folder, 'nothing') };
}

function removeAll(): void {
  for (const folder of made.values()) removeTree(folder);
}

function makeSystemFiles(): string {
  const folder = ownedFolder('system');
  try {
    const etc = join(folder, 'etc');
    copyOfEtc(etc);
    for (const [name, content] of Object.entries({ ...madeUp, ...accountsOf(insideUser) })) {
      writeFileSync(join(etc, name), content);
    }
    mkdirSync(join(folder, 'nothing'));
    for (const name of ['etc', 'nothing']) openToReaders(join(folder, name));
    // Written last, so that if it exists, everything does.
    writeFileSync(join(folder, 'empty'), '', { mode: 0o644 });
    return folder;
  } catch (error) {
    removeTree(folder);
    throw error;
  }
}

function copyOfEtc(etc: string): void {
  const { copied, mounted } = shownOfEtc();
  for (const name of mounted) mkdirSync(join(etc, name), { recursive: true });
  for (const name of copied) {
    const [source, place] = [join('/etc', name), join(etc, name)];
    mkdirSync(dirname(place), { recursive: true });
    if (statSync(source).isDirectory()) cpSync(source, place, { recursive: true });
    else copyFileSync(source, place);
  }
}

/** Opens a folder and all its contents to processes of other users. */
export function openToReaders(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755);
    else if (entry.isFile()) chmodSync(join(entry.parentPath, entry.name), 0o644);
  }
}

function linesOf(...lines: string[]): string {
  return `${lines.join('\n')}\n`;
}
