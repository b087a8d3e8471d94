import { childrenOf, type SyntaxNode, textOf } from './python-source.ts';

/** The value of one argument of a call. */
export interface PythonArgument {
  /** Null if it is given by position. */
  keyword: string | null;
  value: SyntaxNode;
}

/** The arguments of a call, in order, without unpacked ones (`*a`, `**b`). */
export function argumentsOf(source: string, call: SyntaxNode): PythonArgument[] {
  const list = call.getChild('ArgList');
  if (list === null) return [];
  const groups: SyntaxNode[][] = [[]];
  for (const child of childrenOf(list)) {
    if (child.name === ',') groups.push([]);
    else if (!/^(?:[()]|Comment)$/.test(child.name)) groups.at(-1)?.push(child);
  }
  return groups.flatMap(([first, sign, value]): PythonArgument[] => {
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
