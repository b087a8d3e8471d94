import { childrenOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { Refusal } from './values.ts';

/** What stands in a list, a tuple or brackets, without brackets and commas. */
export function itemsOf(list: SyntaxNode): SyntaxNode[] {
  return childrenOf(list).filter(({ name }) => !/^[[\](),]$/.test(name));
}

/** What stands in the brackets of a call; a keyword, its sign and its value are three nodes. */
export function givenTo(call: SyntaxNode): SyntaxNode[] {
  const list = call.getChild('ArgList');
  return list === null ? [] : itemsOf(list);
}

/** The text of what is called; empty for anything but a call. */
export function calledIn(source: string, node: SyntaxNode): string {
  return node.name !== 'CallExpression' || node.firstChild === null ? '' : textOf(source, node.firstChild);
}

/** The names given values, and the values, of an assignment; `a = b = 0` gives one value to each name. */
export function sidesOf(statement: SyntaxNode): { targets: SyntaxNode[]; values: SyntaxNode[] } {
  const children = childrenOf(statement).filter(({ name }) => name !== ',' && name !== 'TypeDef');
  const sign = children.findIndex(({ name }) => name === 'AssignOp');
  if (sign < 0) return { targets: [], values: [] };
  const unpacked = (nodes: SyntaxNode[]) =>
    nodes.length === 1 && nodes[0]?.name === 'TupleExpression' ? itemsOf(nodes[0]) : nodes;
  const chained = children.slice(0, -1).filter((_, place) => place % 2 === 0);
  const [value] = children.slice(-1);
  const isChain = children.filter(({ name }) => name === 'AssignOp').length > 1;
  if (isChain && children.length === 2 * chained.length + 1 && value !== undefined)
    return { targets: chained, values: chained.map(() => value) };
  return { targets: unpacked(children.slice(0, sign)), values: unpacked(children.slice(sign + 1)) };
}

/** The names that a loop gives values to. */
export function targetsOf(loop: SyntaxNode): SyntaxNode[] {
  const children = childrenOf(loop);
  const targets = children
    .slice(
      1,
      children.findIndex(({ name }) => name === 'in'),
    )
    .filter(({ name }) => name !== ',');
  return targets.flatMap((target) => {
    if (target.name === 'VariableName') return [target];
    return itemsOf(target);
  });
}

/** What a loop goes through. */
export function iteratedBy(loop: SyntaxNode): SyntaxNode | undefined {
  const children = childrenOf(loop);
  return children[children.findIndex(({ name }) => name === 'in') + 1];
}

/** The statements of a body. */
export function statementsIn(body: SyntaxNode): SyntaxNode[] {
  return childrenOf(body).filter(({ name }) => name !== ':' && name !== 'Comment');
}

/** What is subscripted, and the parts of all its subscripts: `a` and `i`, `j` of `a[i, j]` and of `a[i][j]`. */
export function subscriptsOf(node: SyntaxNode, source: string): { base: SyntaxNode; parts: SyntaxNode[][] } {
  const children = childrenOf(node);
  const open = children.findIndex(({ name }) => name === '[');
  const inner = children[0];
  if (node.name !== 'MemberExpression' || open < 0 || inner === undefined) return { base: node, parts: [] };
  const parts: SyntaxNode[][] = [[]];
  for (const child of children.slice(open + 1, -1)) {
    if (child.name === ',') parts.push([]);
    else parts.at(-1)?.push(child);
  }
  const before = subscriptsOf(inner, source);
  if (before.parts.some((part) => part.some(({ name }) => name === ':')))
    throw new Refusal('a subscript of a slice');
  return { base: before.base, parts: [...before.parts, ...parts.filter((part) => part.length > 0)] };
}

/** The list that a call of `append` alone, as a statement, adds to; null for anything else. */
export function appendedList(source: string, call: SyntaxNode): string | null {
  return /^(\w+)\s*\.\s*append$/.exec(calledIn(source, call))?.[1] ?? null;
}

/** What stands inside is worked out never, later, or several times. */
export function isNotAlways(node: SyntaxNode): boolean {
  return (
    /^(?:Lambda|Conditional|\w*Comprehension)Expression$/.test(node.name) ||
    ['for', 'and', 'or'].some((word) => node.getChild(word) !== null)
  );
}
