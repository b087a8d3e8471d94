import {
  childrenOf,
  nodesOf,
  parsePython,
  type SourceEdit,
  type SyntaxNode,
  splice,
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

/**
 * The source with an import statement after the imports at its top, and so after docstring and `__future__`. Unchanged
 * if these imports provide the same names already.
 */
export function withImport(source: string, statement: string): string {
  const top = childrenOf(parsePython(source)).filter(({ name }) => name !== 'Comment');
  const end = top.findIndex(({ name }) => isBlock(name));
  const head = end < 0 ? top : top.slice(0, end);
  const imports = head.filter((node) => nodesOf(node, 'ImportStatement').length > 0);
  const known = new Map(
    imports
      .filter(({ name }) => name !== 'TryStatement')
      .flatMap((node) => nodesOf(node, 'ImportStatement'))
      .flatMap((node) => importsOf(source, node)),
  );
  if ([...importedNames(statement)].every(([name, full]) => known.get(name) === full)) return source;
  const last = imports.at(-1);
  if (last !== undefined) return splice(source, [lineAfter(source, last, statement)]);
  const [first] = top;
  const isDocumented = first?.name === 'ExpressionStatement' && first.firstChild?.name === 'String';
  if (isDocumented) return splice(source, [lineAfter(source, first, statement)]);
  const start = lineStart(source, first?.from ?? source.length);
  return splice(source, [{ from: start, to: start, text: `${statement}\n` }]);
}

function isBlock(kind: string): boolean {
  return /^(?:For|While|With|If|Match|Decorated)Statement$|Definition$/.test(kind);
}

function lineAfter(source: string, node: SyntaxNode, text: string): SourceEdit {
  const written = textOf(source, node).trimEnd();
  const rest = source.indexOf('\n', node.from + written.length);
  const at = rest < 0 ? source.length : rest;
  return { from: at, to: at, text: `\n${text}` };
}

function lineStart(source: string, place: number): number {
  return source.lastIndexOf('\n', place - 1) + 1;
}

/** The white space before a node on its line. */
function indentOf(source: string, node: SyntaxNode): string {
  return /^[ \t]*/.exec(source.slice(lineStart(source, node.from), node.from))?.[0] ?? '';
}

/** The statement that contains a node: a child of a body or of the script. */
export function statementOf(node: SyntaxNode): SyntaxNode {
  let statement = node;
  while (statement.parent !== null && !/^(?:Body|Script)$/.test(statement.parent.name))
    statement = statement.parent;
  return statement;
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

/** Inserts lines after a statement, with its indentation. The given lines have no indentation. */
export function linesAfter(source: string, statement: SyntaxNode, lines: readonly string[]): SourceEdit {
  const indent = indentOf(source, statement);
  const text = lines.map((line) => (line === '' ? '' : indent + line)).join('\n');
  return lineAfter(source, statement, text);
}

/** The line of a node, from 1. */
export function lineOf(source: string, node: SyntaxNode): number {
  return source.slice(0, node.from).split('\n').length;
}
