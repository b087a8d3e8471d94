import { childrenOf, type SyntaxNode, textOf } from './python-source.ts';

/** What one argument of a call is given. */
export interface Argument {
  /** Null where it is given by position. */
  keyword: string | null;
  value: SyntaxNode;
}

/** The arguments of a call, in their order; those that are unpacked (`*a`, `**b`) are left out. */
export function argumentsOf(source: string, call: SyntaxNode): Argument[] {
  const list = call.getChild('ArgList');
  if (list === null) return [];
  const groups: SyntaxNode[][] = [[]];
  for (const child of childrenOf(list)) {
    if (child.name === ',') groups.push([]);
    else if (!/^(?:[()]|Comment)$/.test(child.name)) groups.at(-1)?.push(child);
  }
  return groups.flatMap(([first, sign, value]): Argument[] => {
    if (first === undefined || /^\*/.test(textOf(source, first))) return [];
    if (sign === undefined) return [{ keyword: null, value: first }];
    return sign.name === 'AssignOp' && value !== undefined ? [{ keyword: textOf(source, first), value }] : [];
  });
}

/** The value of an argument that may be given by name or, from 0, by position. */
export function argumentOf(
  source: string,
  call: SyntaxNode,
  name: string,
  position: number,
): SyntaxNode | null {
  const all = argumentsOf(source, call);
  const named = all.find(({ keyword }) => keyword === name);
  if (named !== undefined) return named.value;
  return all.filter(({ keyword }) => keyword === null)[position]?.value ?? null;
}
