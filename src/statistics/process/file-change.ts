/** A file before and after a step. Null: there was none. `text`: null if it is not text, or was not read. */
export interface FileChange {
  path: string;
  before: { text: string | null } | null;
  after: { text: string | null } | null;
}

/** Longer lines were not written by hand, and are skipped. */
const longestLine = 400;
const maxValues = 3;

/** The change of a file, in a few words: `train.py: LEARNING_RATE 0.002→0.02`. It may contain parts of the file. */
export function describeChange({ path, before, after }: FileChange): string {
  if (after === null) return `${path}: removed`;
  if (before === null) return `${path}: new${after.text === null ? '' : `, ${lineCount(after.text)}`}`;
  if (before.text === null || after.text === null) return `${path}: changed`;
  const old = before.text.split('\n');
  const fresh = after.text.split('\n');
  const removed = linesMissingIn(fresh, old);
  const added = linesMissingIn(old, fresh);
  if (removed.length + added.length === 0) return `${path}: ${moved(before.text, after.text)}`;
  const isInformative = (line: string) => line.length <= longestLine && !plainLine.test(line);
  const lines = { removed: removed.filter(isInformative), added: added.filter(isInformative) };
  const { values, matched } = changedValues(lines.removed, lines.added);
  if (values !== '' && matched === removed.length && matched === added.length) return `${path}: ${values}`;
  const counts = [
    ...(added.length > 0 ? [`+${added.length}`] : []),
    ...(removed.length > 0 ? [`−${removed.length}`] : []),
  ].join(' ');
  const unit = added.length + removed.length === 1 ? 'line' : 'lines';
  const [first = ''] = added.length > 0 ? lines.added : lines.removed;
  // If most lines were rewritten, the new content says more than a single changed value.
  const areMost = 2 * matched >= Math.max(lines.removed.length, lines.added.length);
  const shown = (areMost ? values : '') || first.trim();
  return `${path}: ${counts} ${unit}${shown === '' ? '' : `: ${shown}`}`;
}

function lineCount(text: string): string {
  const count = text.split('\n').length - (text.endsWith('\n') || text === '' ? 1 : 0);
  return `${count} ${count === 1 ? 'line' : 'lines'}`;
}

function moved(before: string, after: string): string {
  return before === after ? 'same content' : 'lines moved';
}

/** The lines of a text that another one does not have as often. Moved lines are not a change. */
function linesMissingIn(other: readonly string[], lines: readonly string[]): string[] {
  const there = new Map<string, number>();
  for (const line of other) there.set(line, (there.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = there.get(line) ?? 0;
    there.set(line, count - 1);
    return count <= 0;
  });
}

/** Numbers with their sign, short strings and booleans. */
const value =
  /"[^"\\]{0,30}"|'[^'\\]{0,30}'|(?<![\w.])(?:(?<=[=([,:<>] ?)[-+])?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])|\b(?:True|False|None|true|false|null)\b/g;

/**
 * `LEARNING_RATE 0.002→0.02, EPOCHS 15→40`, for lines that differ only in such values; `matched`: the number of those
 * lines.
 */
function changedValues(
  removed: readonly string[],
  added: readonly string[],
): { values: string; matched: number } {
  const shapeOf = (line: string) => line.replaceAll(value, '0');
  const waiting = Map.groupBy(removed, shapeOf);
  const changes = new Set<string>();
  let matched = 0;
  for (const fresh of added) {
    const old = waiting.get(shapeOf(fresh))?.shift();
    if (old === undefined) continue;
    matched += 1;
    for (const change of changesIn(old, fresh)) changes.add(change);
  }
  const more = changes.size - maxValues;
  const values = [...changes].slice(0, maxValues).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return { values, matched };
}

/** For two lines of the same shape: each value that changed, with the name before it. */
function changesIn(old: string, fresh: string): string[] {
  const after = [...fresh.matchAll(value)];
  return [...old.matchAll(value)].flatMap(({ 0: from }, place) => {
    const to = after[place];
    if (to === undefined || to[0] === from) return [];
    const name = fresh
      .slice(0, to.index)
      .match(/[\p{L}_][\p{L}\p{N}_]*/gu)
      ?.at(-1);
    return [`${name === undefined ? '' : `${name} `}${from}→${to[0]}`];
  });
}

/** Blank lines, brackets, comments, strings and imports say little. */
const plainLine = /^\s*(?:#.*|["'].*|import\s.*|from\s.*\simport\s.*|__import__\(.*|[\])}([{\s,:;"']*)$/;
