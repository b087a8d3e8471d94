/** Where a file begins in a script's text; see `readScript`. */
const file = /\n# ---- [\w-]+\.(?<ending>\w+) ----\n/g;

/**
 * The groups of a setting in a file of YAML, TOML or INI that is part of a script's text: `[validation]` on a line above
 * it, or `validation:` on one that is less indented. None for what is in other files.
 */
export function groupsOf(source: string, at: number): string[] {
  const before = source.slice(0, at);
  const start = [...before.matchAll(file)].at(-1);
  const lines = before.slice(start?.index ?? 0).split('\n');
  const ending = start?.groups?.ending ?? '';
  if (/^(?:toml|ini|cfg)$/.test(ending)) return lines.flatMap(headingIn).slice(-1);
  return /^ya?ml$/.test(ending) ? keysAbove(lines) : [];
}

function headingIn(line: string): string[] {
  return /^\s*\[+([^\]]+)\]/.exec(line)?.slice(1) ?? [];
}

function keysAbove(lines: readonly string[]): string[] {
  const keys: string[] = [];
  let indent = indentOf(lines.at(-1) ?? '');
  for (const line of lines.toReversed()) {
    const key = /^[ \t]*(?:- )?([\w-]+):\s*(?:#.*)?$/.exec(line)?.[1];
    if (key === undefined || indentOf(line) >= indent) continue;
    keys.push(key);
    indent = indentOf(line);
  }
  return keys;
}

function indentOf(line: string): number {
  return line.search(/\S|$/);
}
