import { isSafePath } from '../../store/index.ts';
import type { OriginalFile } from './original-run.ts';
import { linesOf } from './read-text.ts';

/**
 * A file that importing adds to a workspace if some contents are unknown: it lists the files that were there. So two
 * workspaces that differed never look the same, and a restored workspace shows what is missing.
 */
export const notRecordedName = '.mlab-not-recorded.tsv';

const nothingKnown = '# What this workspace held is not recorded.\n';
const header =
  '# Files that were here and whose content is not recorded: path (as JSON), bytes, SHA-256 or its start.\n';

/** @param missing null: nothing of the workspace is known */
export function notRecordedText(missing: readonly OriginalFile[] | null): string {
  if (missing === null) return nothingKnown;
  const lines = missing.map(({ path, bytes, hash }) => `${JSON.stringify(path)}\t${bytes}\t${hash}\n`);
  return header + lines.join('');
}

/**
 * The files in such a list; null if it says that nothing is known.
 * @param most how many
 */
export function listedFiles(text: string, most: number): OriginalFile[] | null {
  if (text === nothingKnown) return null;
  const files: OriginalFile[] = [];
  for (const line of linesOf(text)) {
    const [, path, bytes, hash = ''] = /^("[^\t]*")\t(\d{1,15})\t([0-9a-f]{16,64})$/.exec(line) ?? [];
    const name = path === undefined ? '' : nameOf(path);
    if (isSafePath(name) && files.length < most)
      files.push({ path: name, bytes: Number(bytes), hash, source: null });
  }
  return files;
}

function nameOf(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return '';
  }
}
