import {
  childrenOf,
  nodesOf,
  parsePython,
  type SourceEdit,
  type SyntaxNode,
  textOf,
} from '../python-source.ts';

/** The imports anywhere in a script: each name in the script, and the full dotted name that it stands for. */
export function importedNames(source: string): Map<string, string> {
  return new Map(
    nodesOf(parsePython(source), 'ImportStatement').flatMap((statement) => importsOf(source, statement)),
  );
}

/** `import a.b`, `import a.b as c`, `from a.b import c as d, e`, `from . import a`. */
function importsOf(source: string, statement: SyntaxNode): [string, string][] {
  const text = textOf(source, statement)
    .replace(/#.*|\\$/gm, ' ')
    .replace(/[()]/g, ' ');
  const [, module, names] = /^\s*(?:from\s+([.\w\s]+?)\s+)?import\s+([\s\S]*)$/.exec(text) ?? [];
  return (names ?? '').split(',').flatMap((part): [string, string][] => {
    const [, name, alias] = /^\s*([\w.]+)(?:\s+as\s+(\w+))?\s*$/.exec(part) ?? [];
    if (name === undefined) return [];
    if (module === undefined && alias === undefined) {
      const first = name.replace(/\..*/s, '');
      return [[first, first]];
    }
    const prefix = module?.replace(/\s/g, '') ?? '';
    const joint = prefix === '' || prefix.endsWith('.') ? '' : '.';
    return [[alias ?? name, `${prefix}${joint}${name}`]];
  });
}

/** The full dotted name of `a` or `a.b.c` if `a` is imported; null for anything else. */
export function fullNameOf(
  source: string,
  node: SyntaxNode | null,
  imports: ReadonlyMap<string, string>,
): string | null {
  if (node === null || !/^(?:VariableName|MemberExpression)$/.test(node.name)) return null;
  const [, first, rest] = /^(\w+)((?:\s*\.\s*\w+)*)$/.exec(textOf(source, node)) ?? [];
  const imported = first === undefined ? undefined : imports.get(first);
  return imported === undefined ? null : imported + (rest ?? '').replace(/\s/g, '');
}

/** The source with whole lines after the imports at its top, and so after docstring and `__future__`. */
export function belowImports(source: string, lines: string): string {
  const top = childrenOf(parsePython(source)).filter(({ name }) => name !== 'Comment');
  const end = top.findIndex(({ name }) =>
    /^(?:For|While|With|If|Match|Decorated)Statement$|Definition$/.test(name),
  );
  const head = end < 0 ? top : top.slice(0, end);
  const isDocumented = head[0]?.name === 'ExpressionStatement' && head[0].firstChild?.name === 'String';
  const before =
    head.findLast((node) => nodesOf(node, 'ImportStatement').length > 0) ?? (isDocumented ? head[0] : null);
  if (before == null) {
    const start = lineStart(source, top[0]?.from ?? source.length);
    return source.slice(0, start) + lines + source.slice(start);
  }
  const at = lineEnd(source, before);
  return `${source.slice(0, at)}\n${lines}${source.slice(at + 1)}`;
}

/** Where the last line of a node ends. */
function lineEnd(source: string, node: SyntaxNode): number {
  const end = source.indexOf('\n', node.from + textOf(source, node).trimEnd().length);
  return end < 0 ? source.length : end;
}

function lineStart(source: string, place: number): number {
  return source.lastIndexOf('\n', place - 1) + 1;
}

/**
 * Whether a statement shares its lines with nothing else, so that lines can be put before or after it, or replace it.
 */
export function hasOwnLines(source: string, statement: SyntaxNode): boolean {
  const before = source.slice(lineStart(source, statement.from), statement.from);
  const end = statement.from + textOf(source, statement).trimEnd().length;
  if (statement.name === 'StatementGroup') return false;
  return /^[ \t]*$/.test(before) && /^[ \t]*(?:#.*)?\r?(?:\n|$)/.test(source.slice(end));
}

/** Inserts a line after a statement, with its indentation. */
export function lineAfter(source: string, statement: SyntaxNode, line: string): SourceEdit {
  const indent = source.slice(lineStart(source, statement.from), statement.from);
  const at = lineEnd(source, statement);
  return { from: at, to: at, text: `\n${indent}${line}` };
}

/** The line of a node, from 1. */
export function lineOf(source: string, node: SyntaxNode): number {
  return source.slice(0, node.from).split('\n').length;
}
