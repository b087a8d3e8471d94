const stop = /^__import__\("signal"\)\.alarm\(\d+\) {2}# This try must not take longer\.\n/m;

/** What Python requires to come first: the docstring, and imports from `__future__`. */
const beginning = new RegExp(
  String.raw`^(?:(?:[ \t]*(?:#.*)?\r?\n)*(?:${[
    String.raw`[rRuU]?(?:"""(?:(?!""")(?:[^\\]|\\[^]))*"""|'''(?:(?!''')(?:[^\\]|\\[^]))*''')`,
    String.raw`[rRuU]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')`,
    String.raw`from __future__ import (?:\([^)]*\)|[\w, ]*)`,
  ].join('|')})[ \t;]*(?:#.*)?\r?\n)*`,
);

/**
 * A script with a line that ends it after this many seconds, whatever it does: there is no other way to keep one attempt
 * from using up the rest of the run. Unchanged if there is no place for the line.
 */
export function stoppingItself(source: string, seconds: number): string {
  const plain = source.replace(stop, '');
  const [before = ''] = beginning.exec(plain) ?? [];
  const rest = plain.slice(before.length);
  if (/^from __future__ /m.test(rest)) return plain;
  return `${before}__import__("signal").alarm(${seconds})  # This try must not take longer.\n${rest}`;
}

/** The script without the line that stops it. */
export function withoutStop(source: string): string {
  return source.replace(stop, '');
}
