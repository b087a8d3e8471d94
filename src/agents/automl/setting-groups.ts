import { mark } from './script-files.ts';

/**
 * The groups of a setting in a file of YAML, TOML or INI that is part of a script's text: `[validation]` on a line above
 * it, or `validation:` on one that is less indented. None for what is in other files.
 */
export function groupsOf(source: string, at: number): string[] {
  const [path = '', text = ''] = source.slice(0, at).split(mark).slice(-2);
  const lines = text.split('\n');
  if (/\.(?:toml|ini|cfg)$/.test(path)) return lines.flatMap(headingIn).slice(-1);
  return /\.ya?ml$/.test(path) ? keysAbove(lines) : [];
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
