import { childrenOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { fullNameOf } from '../python-edit.ts';
import { sidesOf } from './syntax.ts';

/** How many axes the arrays of a script have, as far as it says so; names with two different counts are left out. */
export function ranksOf(
  source: string,
  top: SyntaxNode,
  imports: ReadonlyMap<string, string>,
): Map<string, number> {
  const claims = new Map<string, Set<number>>();
  const claim = (name: string, rank: number | null) => {
    if (rank !== null) claims.set(name, (claims.get(name) ?? new Set()).add(rank));
  };
  const known = () =>
    new Map(
      [...claims].flatMap(([name, ranks]) => (ranks.size === 1 ? [[name, [...ranks][0] ?? 0] as const] : [])),
    );
  const assignments = nodesOf(top, 'AssignStatement').map((statement) => sidesOf(statement));
  const definitions = nodesOf(top, 'FunctionDefinition');
  // Twice, since an array may be made of one that is known only further down.
  for (const _ of [1, 2]) {
    for (const definition of definitions)
      claimParameters(source, top, definition, (name, node) =>
        claim(name, rankOf(source, node, imports, known())),
      );
    for (const { targets, values } of assignments) {
      const [value] = values;
      const shaped = value === undefined ? null : /^([\w.]+)\.shape$/.exec(textOf(source, value))?.[1];
      if (shaped !== null && shaped !== undefined && values.length === 1 && targets.length > 1) {
        claim(shaped, targets.length);
        for (const target of targets) claim(textOf(source, target), 0);
        continue;
      }
      if (targets.length !== values.length) continue;
      for (const [place, target] of targets.entries()) {
        const each = values[place];
        if (target.name === 'VariableName' && each !== undefined)
          claim(textOf(source, target), rankOf(source, each, imports, known()));
      }
    }
  }
  return known();
}

/** Names that the script takes for arrays of numpy: it knows their axes, or does with them what lists do not allow. */
export function arraysOf(
  source: string,
  top: SyntaxNode,
  ranks: ReadonlyMap<string, number>,
): ReadonlySet<string> {
  const used = nodesOf(top, 'MemberExpression').flatMap((node) => {
    const owner = node.firstChild;
    if (owner === null) return [];
    const rest = source.slice(owner.to, node.to);
    const isOfArrays =
      /^\.(?:shape|T|ndim|dtype|astype|sum|mean|max|min|reshape|ravel|flatten)$|^\[[^[\]]*,/.test(rest);
    return isOfArrays ? [textOf(source, owner)] : [];
  });
  const known = [...ranks].flatMap(([name, rank]) => (rank > 0 ? [name] : []));
  return new Set([...known, ...used]);
}

/** What a function of the script is called with, by the names of its parameters. */
export function claimParameters(
  source: string,
  top: SyntaxNode,
  definition: SyntaxNode,
  claim: (name: string, argument: SyntaxNode) => void,
): void {
  const name = textOf(source, definition.getChild('VariableName') ?? definition);
  const parameters = childrenOf(definition.getChild('ParamList') ?? definition).filter(
    (node) => node.name === 'VariableName' && node.prevSibling?.name !== 'AssignOp',
  );
  for (const call of nodesOf(top, 'CallExpression')) {
    if (call.firstChild?.name !== 'VariableName' || textOf(source, call.firstChild) !== name) continue;
    const list = childrenOf(call.getChild('ArgList') ?? call).filter((node) => !/^[(),]$/.test(node.name));
    const named = list.findIndex((node) => node.name === 'AssignOp' || node.name.startsWith('*'));
    const positional = named < 0 ? list : list.slice(0, Math.max(0, named - 1));
    for (const [place, parameter] of parameters.entries()) {
      const argument = positional[place];
      if (argument !== undefined) claim(textOf(source, parameter), argument);
    }
  }
}

const makers = /^numpy\.(?:zeros|ones|empty|full|random\.(?:random|standard_normal|random_sample))$/;
const likeFirst =
  /^numpy\.(?:pad|zeros_like|ones_like|empty_like|full_like|copy|exp|log|sqrt|abs|sin|cos|tanh|maximum|minimum|square|sort|cumsum|roll|ascontiguousarray)$/;

function rankOf(
  source: string,
  node: SyntaxNode,
  imports: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, number>,
): number | null {
  const recurse = (each: SyntaxNode | null | undefined) =>
    each === null || each === undefined ? null : rankOf(source, each, imports, known);
  switch (node.name) {
    case 'Number':
      return 0;
    case 'VariableName':
      return known.get(textOf(source, node)) ?? null;
    case 'ParenthesizedExpression':
      return recurse(node.firstChild?.nextSibling);
    case 'UnaryExpression':
      return recurse(node.lastChild);
    case 'BinaryExpression': {
      if (/ @ /.test(textOf(source, node))) return null;
      const sides = [recurse(node.firstChild), recurse(node.lastChild)];
      return sides.includes(null) ? null : Math.max(...sides.map((side) => side ?? 0));
    }
    case 'CallExpression':
      return rankOfCall(source, node, imports, recurse);
    case 'MemberExpression':
      return rankOfPart(source, node, recurse);
    default:
      return null;
  }
}

/** `a[2]`, `a[:, 1:3]`, `a.T`, `a.shape[0]`. */
function rankOfPart(
  source: string,
  node: SyntaxNode,
  recurse: (node: SyntaxNode | null | undefined) => number | null,
): number | null {
  if (/\.shape\[-?\d+\]$/.test(textOf(source, node))) return 0;
  if (/\.T$/.test(textOf(source, node))) return recurse(node.firstChild);
  const rank = node.getChild('[') === null ? null : recurse(node.firstChild);
  const subscript = textOf(source, node).slice((node.firstChild?.to ?? node.from) - node.from + 1, -1);
  const parts = subscript.split(',').map((part) => part.trim());
  if (rank === null || parts.some((part) => !/:|^-?\d+$/.test(part))) return null;
  return rank - parts.filter((part) => !part.includes(':')).length;
}

function rankOfCall(
  source: string,
  call: SyntaxNode,
  imports: ReadonlyMap<string, string>,
  recurse: (node: SyntaxNode | null | undefined) => number | null,
): number | null {
  const callee = fullNameOf(source, call.firstChild, imports) ?? textOf(source, call.firstChild ?? call);
  const parts = childrenOf(call.getChild('ArgList') ?? call).filter(({ name }) => !/^[(),]$/.test(name));
  const positional = parts.filter(
    (part) =>
      part.name !== 'AssignOp' &&
      part.prevSibling?.name !== 'AssignOp' &&
      part.nextSibling?.name !== 'AssignOp',
  );
  const [first] = positional;
  const size = parts.find(
    (part) =>
      part.prevSibling?.name === 'AssignOp' &&
      /^(?:size|shape)$/.test(textOf(source, part.prevSibling.prevSibling ?? part)),
  );
  if (/^(?:len|int|float)$/.test(callee)) return 0;
  if (size !== undefined) return shapeRank(size);
  if (makers.test(callee) || /\.(?:standard_normal|random)$/.test(callee))
    return first === undefined ? null : shapeRank(first);
  if (/^numpy\.random\.(?:rand|randn)$/.test(callee)) return positional.length;
  if (/^numpy\.(?:arange|linspace)$/.test(callee)) return 1;
  if (/\.(?:normal|uniform|integers|randint)$/.test(callee) && positional.length > 2)
    return shapeRank(positional[2] ?? call);
  if (/^numpy\.(?:array|asarray)$/.test(callee))
    return first?.name === 'ArrayExpression' ? nestingOf(first) : recurse(first);
  if (likeFirst.test(callee)) return recurse(first);
  return /\.(?:tolist|copy|astype|round|clip)$/.test(callee) ? recurse(call.firstChild?.firstChild) : null;
}

function shapeRank(shape: SyntaxNode): number | null {
  if (/^(?:Tuple|Array)Expression$/.test(shape.name))
    return childrenOf(shape).filter(({ name }) => !/^[[\](),]$/.test(name)).length;
  return /^(?:Number|VariableName|BinaryExpression)$/.test(shape.name) ? 1 : null;
}

/** How deep the brackets of a list of lists go. */
function nestingOf(list: SyntaxNode): number {
  const first = list.firstChild?.nextSibling;
  return first?.name === 'ArrayExpression' ? 1 + nestingOf(first) : 1;
}
