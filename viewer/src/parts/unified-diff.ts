import { parsePatch } from 'diff';

export interface DiffLine {
  kind: 'same' | 'added' | 'removed' | 'note';
  /** Line numbers before and after; null if the line is missing there. */
  before: number | null;
  after: number | null;
  text: string;
}

export interface DiffHunk {
  title: string;
  lines: DiffLine[];
}

/** The hunks of one file's unified diff. A text that is not a diff has none. */
export function diffHunks(unified: string): DiffHunk[] {
  return patches(unified).flatMap(({ hunks }) =>
    hunks.map((hunk) => {
      let before = hunk.oldStart;
      let after = hunk.newStart;
      const lines = hunk.lines.map((line): DiffLine => {
        const text = line.slice(1);
        if (line.startsWith('+')) return { kind: 'added', before: null, after: after++, text };
        if (line.startsWith('-')) return { kind: 'removed', before: before++, after: null, text };
        if (line.startsWith('\\')) return { kind: 'note', before: null, after: null, text };
        return { kind: 'same', before: before++, after: after++, text };
      });
      return { title: `line ${hunk.newStart}`, lines };
    }),
  );
}

function patches(unified: string): ReturnType<typeof parsePatch> {
  try {
    return parsePatch(unified);
  } catch {
    return [];
  }
}
