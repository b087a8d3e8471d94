/** What the syntax tells of conditions. */
import { childrenOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { comparisons } from './arithmetic.ts';
import { Refusal } from './values.ts';

/** `and` or `or` without brackets around it; null for anything else. */
export function jointOf(node: SyntaxNode, source: string): string | null {
  const [, sign, , ...more] = node.name === 'BinaryExpression' ? childrenOf(node) : [];
  const text = sign === undefined || more.length > 0 ? '' : textOf(source, sign);
  return /^(?:and|or)$/.test(text) ? text : null;
}

/** `a and not b or c`, of which the parser makes `a and not (b or c)`. */
export function isMisread(node: SyntaxNode, source: string): boolean {
  const right = node.lastChild;
  const inner = right?.name === 'UnaryExpression' ? right.lastChild : null;
  return jointOf(node, source) === 'and' && inner !== null && jointOf(inner, source) === 'or';
}

/** Whether the value that stands for an expression's truth is true or false. */
export function isTruth(node: SyntaxNode, source: string): boolean {
  if (node.name === 'ParenthesizedExpression') return isTruth(partAt(node, 1), source);
  return jointOf(node, source) !== null || isComparison(node, source);
}

/** True or false, never another value. */
export function isComparison(node: SyntaxNode, source: string): boolean {
  if (node.name === 'ParenthesizedExpression') return isComparison(partAt(node, 1), source);
  if (node.name === 'UnaryExpression') return textOf(source, partAt(node, 0)) === 'not';
  if (node.name !== 'BinaryExpression') return node.name === 'Boolean';
  const operator = textOf(source, partAt(node, 1));
  if (/^(?:and|or)$/.test(operator))
    return [partAt(node, 0), partAt(node, 2)].every((side) => isComparison(side, source));
  return comparisons.test(operator);
}

function partAt(node: SyntaxNode, place: number): SyntaxNode {
  const part = childrenOf(node)[place];
  if (part === undefined) throw new Refusal('a broken expression');
  return part;
}
