import { readFileSync, statfsSync, statSync } from 'node:fs';
import { temporaryFolders } from './bubblewrap-arguments.ts';

/**
 * What commands can leave in a sandbox's namespaces besides processes: files in its temporary folders, and connections
 * whose end keeps their port in use. Equal texts: the same is there. Null if it can't be determined.
 * @param pid host id of a process inside
 */
export function stateOf(pid: number): string | null {
  try {
    const folders = temporaryFolders.map((folder) => {
      const path = `/proc/${pid}/root${folder}`;
      const { files, ffree } = statfsSync(path);
      return `${files - ffree} ${statSync(path).mode}`;
    });
    const connections = /^TCP: inuse \d+ orphan \d+ tw \d+/m.exec(
      readFileSync(`/proc/${pid}/net/sockstat`, 'latin1'),
    );
    return [...folders, connections?.[0] ?? ''].join('\n');
  } catch {
    return null;
  }
}
