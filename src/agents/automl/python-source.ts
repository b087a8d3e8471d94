import { parser } from '@lezer/python';

/** A node of Python's syntax tree; positions count UTF-16 units, as JavaScript's strings do. */
export type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

/** One replacement in a text. */
export interface SourceEdit {
  from: number;
  to: number;
  text: string;
}

type Tree = ReturnType<typeof parser.parse>;

/** Syntax trees of a few texts: rewriters read one text many times, and parsing is slow. */
const trees = new Map<string, Tree>();
const maxTrees = 8;

function treeOf(source: string): Tree {
  const known = trees.get(source);
  if (known !== undefined) return known;
  if (trees.size >= maxTrees) trees.clear();
  const tree = parser.parse(source);
  trees.set(source, tree);
  return tree;
}

export function parsePython(source: string): SyntaxNode {
  return treeOf(source).topNode;
}

/** The number of places in a source that the parser could not understand. */
export function syntaxErrors(source: string): number {
  let errors = 0;
  treeOf(source).iterate({
    enter: (node) => {
      if (node.type.isError) errors += 1;
    },
  });
  return errors;
}

/** Replaces ranges of a source and leaves the rest unchanged. Throws if two ranges overlap. */
export function splice(source: string, edits: readonly SourceEdit[]): string {
  let result = '';
  let done = 0;
  for (const edit of [...edits].sort((left, right) => left.from - right.from)) {
    if (edit.from < done || edit.to < edit.from || edit.to > source.length) {
      throw new RangeError(`cannot replace ${edit.from} to ${edit.to}`);
    }
    result += source.slice(done, edit.from) + edit.text;
    done = edit.to;
  }
  return result + source.slice(done);
}

/** All nodes of a kind below a node, in the order of the source. */
export function nodesOf(top: SyntaxNode, kind: string): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const cursor = top.cursor();
  do {
    if (cursor.name === kind) found.push(cursor.node);
  } while (cursor.next() && cursor.from < top.to);
  return found;
}

export function textOf(source: string, node: SyntaxNode): string {
  return source.slice(node.from, node.to);
}

export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

/** From the nearest to the outermost. */
export function ancestorsOf(node: SyntaxNode): SyntaxNode[] {
  const ancestors: SyntaxNode[] = [];
  for (let parent = node.parent; parent !== null; parent = parent.parent) ancestors.push(parent);
  return ancestors;
}

/** The last name of the called function: `fit` for `model.fit(…)`; empty if it has none. */
export function calleeName(source: string, call: SyntaxNode): string {
  const callee = call.firstChild;
  if (callee === null) return '';
  return /(?<!\w)([A-Za-z_]\w*)\s*$/.exec(textOf(source, callee))?.[1] ?? '';
}

/** The text of a plain string literal; null for other nodes and for literals with escapes. */
export function stringValue(source: string, node: SyntaxNode | null): string | null {
  if (node === null || node.name !== 'String') return null;
  return /^[rRbBuU]*("""|'''|"|')([^\\]*)\1$/s.exec(textOf(source, node))?.[2] ?? null;
}
