/** The entries that the original's agent requires of its model besides its action. */
export const entryLabels = ['Reflection', 'Research Plan and Status', 'Fact Check', 'Thought'] as const;
const actionLabels = ['Action', 'Action Input'] as const;

const label =
  /^[ \t>*_#]{0,8}(Reflection|Research Plan and Status|Fact Check|Thought|Action Input|Action|Observation)[ \t*_]{0,8}:\**/gm;

export interface ReplyParts {
  /** The text under each label, trimmed. */
  entries: Record<string, string>;
  /** The first line under `Action`; null if there is none. */
  action: string | null;
  /** Required labels that are missing. */
  missing: string[];
}

/** Splits a reply at the first occurrence of each label. Observations that the model made up are left out. */
export function replyParts(reply: string): ReplyParts {
  const texts = new Map<string, string>();
  let last: { name: string; end: number } | null = null;
  const close = (until: number | undefined) => {
    if (last !== null && !texts.has(last.name)) texts.set(last.name, reply.slice(last.end, until).trim());
  };
  for (const match of reply.matchAll(label)) {
    close(match.index);
    const name = match[1] ?? '';
    last = { name, end: match.index + match[0].length };
    if (name === 'Observation') break;
  }
  close(undefined);
  const action = texts.get('Action')?.split('\n')[0]?.trim() ?? '';
  return {
    entries: Object.fromEntries(
      entryLabels.flatMap((name) => (texts.get(name) ? [[name, texts.get(name) ?? '']] : [])),
    ),
    action: action === '' ? null : action,
    missing: [...entryLabels, ...actionLabels].filter((name) => !texts.has(name)),
  };
}
