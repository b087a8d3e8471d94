/** A file before and after a step. Null: there was none. `text`: null where it is no text, or was not read. */
export interface FileChange {
  path: string;
  before: { text: string | null } | null;
  after: { text: string | null } | null;
}

/** Longer lines were not written by hand, and are not looked into. */
const longestLine = 400;
const mostValues = 3;

/** What became of a file, in a few words: `train.py: LEARNING_RATE 0.002→0.02`. It may hold what the file holds. */
export function describeChange({ path, before, after }: FileChange): string {
  if (after === null) return `${path}: removed`;
  if (before === null) return `${path}: new${after.text === null ? '' : `, ${lineCount(after.text)}`}`;
  if (before.text === null || after.text === null) return `${path}: changed`;
  const old = before.text.split('\n');
  const fresh = after.text.split('\n');
  const removed = linesMissingIn(fresh, old);
  const added = linesMissingIn(old, fresh);
  if (removed.length + added.length === 0) return `${path}: ${moved(before.text, after.text)}`;
  const isTelling = (line: string) => line.length <= longestLine && !plainLine.test(line);
  const lines = { removed: removed.filter(isTelling), added: added.filter(isTelling) };
  const { values, matched } = changedValues(lines.removed, lines.added);
  if (values !== '' && matched === removed.length && matched === added.length) return `${path}: ${values}`;
  const counts = [
    ...(added.length > 0 ? [`+${added.length}`] : []),
    ...(removed.length > 0 ? [`−${removed.length}`] : []),
  ].join(' ');
  const unit = added.length + removed.length === 1 ? 'line' : 'lines';
  const [first = ''] = added.length > 0 ? lines.added : lines.removed;
  // A value that changed in passing tells less than what a file was rewritten to.
  const areMost = 2 * matched >= Math.max(lines.removed.length, lines.added.length);
  const told = (areMost ? values : '') || first.trim();
  return `${path}: ${counts} ${unit}${told === '' ? '' : `: ${told}`}`;
}

function lineCount(text: string): string {
  const count = text.split('\n').length - (text.endsWith('\n') || text === '' ? 1 : 0);
  return `${count} ${count === 1 ? 'line' : 'lines'}`;
}

function moved(before: string, after: string): string {
  return before === after ? 'same content' : 'lines moved';
}

/** The lines of a text that another one does not have as often. What only moved is no change. */
function linesMissingIn(other: readonly string[], lines: readonly string[]): string[] {
  const there = new Map<string, number>();
  for (const line of other) there.set(line, (there.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = there.get(line) ?? 0;
    there.set(line, count - 1);
    return count <= 0;
  });
}

/** Numbers with their sign, short texts and truth values. */
const value =
  /"[^"\\]{0,30}"|'[^'\\]{0,30}'|(?<![\w.])(?:(?<=[=([,:<>] ?)[-+])?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])|\b(?:True|False|None|true|false|null)\b/g;

/** `LEARNING_RATE 0.002→0.02, EPOCHS 15→40`, of the lines that are as they were but for such; `matched`: how many those are. */
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
  const more = changes.size - mostValues;
  const values = [...changes].slice(0, mostValues).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return { values, matched };
}

/** Of two lines of one shape: each value that changed, with the name before it. */
function changesIn(old: string, fresh: string): string[] {
  const after = [...fresh.matchAll(value)];
  return [...old.matchAll(value)].flatMap(({ 0: from }, place) => {
    const to = after[place];
    if (to === undefined || to[0] === from) return [];
    const name = /([\p{L}_][\p{L}\p{N}_]*)[^\p{L}_]*$/u.exec(fresh.slice(0, to.index))?.[1];
    return [`${name === undefined ? '' : `${name} `}${from}→${to[0]}`];
  });
}

/** Blank lines, brackets, comments, texts and imports say little. */
const plainLine = /^\s*(?:#.*|["'].*|import\s.*|from\s.*\simport\s.*|__import__\(.*|[\])}([{\s,:;"']*)$/;
