import { readFileSync, statfsSync, statSync } from 'node:fs';
import { temporaryFolders } from './bubblewrap-arguments.ts';
import { kernelText } from './kernel-text.ts';

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
    const connections = readFileSync(`/proc/${pid}/net/sockstat`, 'latin1');
    const waiting = / tw \d+/.exec(connections)?.[0] ?? '';
    const ofVersion6 = kernelText(`/proc/${pid}/net/sockstat6`);
    return [...folders, ...[connections, ofVersion6].map(inUse), waiting].join('\n');
  } catch {
    return null;
  }
}

/** Includes those that no process has open; the number of these beside it is the whole machine's. */
function inUse(connections: string): string {
  return /^TCP6?: inuse \d+/m.exec(connections)?.[0] ?? '';
}
