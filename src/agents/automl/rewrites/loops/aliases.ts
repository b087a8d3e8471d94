import { ancestorsOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { sidesOf } from './syntax.ts';

/** The arrays that each name may stand for, by the statements that made them. */
type Arrays = ReadonlyMap<string, ReadonlySet<string>>;

interface Place {
  source: string;
  /** The script's name of numpy. */
  np: string;
  /** How often the loops around were gone through: what a statement makes anew is another array. */
  turn: number;
}

/** Whether two names may stand for one array, or for parts of one, where a nest of loops begins. */
export type MayShare = (left: string, right: string) => boolean;

/**
 * Goes through the assignments before a nest of loops, and once more through those of the loops around it, since its
 * second turn finds what the first one left. What is handed to a function counts as an array of its own.
 */
export function sharedArrays(nest: SyntaxNode, source: string, np: string): MayShare {
  const ancestors = ancestorsOf(nest);
  const end = ancestors.findIndex(({ name }) => name === 'FunctionDefinition' || name === 'Script');
  const around = ancestors.slice(0, end);
  const top = ancestors[end];
  if (top === undefined) return () => false;
  const all = nodesOf(top, 'AssignStatement');
  const before = all.filter(({ from }) => from < nest.from);
  const outermost = around.findLast(({ name }) => /^(?:For|While)Statement$/.test(name));
  const again = all.filter(
    ({ from, to }) => outermost !== undefined && from >= outermost.from && to <= outermost.to,
  );
  const [after, next] = [
    again.filter(({ from }) => from >= nest.to),
    again.filter(({ from }) => from < nest.from),
  ];
  const isCertain = (node: SyntaxNode) =>
    ancestorsOf(node).every(
      (each) => !/^(?:If|Try|For|While|Match)Statement$/.test(each.name) || contains(each, nest),
    );
  const follow = (arrays: Arrays, statements: readonly SyntaxNode[], turn: number) =>
    statements.reduce(
      (known, statement) => following(known, statement, { source, np, turn }, isCertain(statement)),
      arrays,
    );
  const first = follow(new Map(), before, 1);
  const second = follow(first, [...after, ...next], 2);
  return (left, right) => [first, second].some((arrays) => meet(arrays, left, right));
}

function contains(around: SyntaxNode, node: SyntaxNode): boolean {
  return around.from <= node.from && around.to >= node.to;
}

function meet(arrays: Arrays, left: string, right: string): boolean {
  const others = arrays.get(right) ?? new Set([right]);
  return [...(arrays.get(left) ?? new Set([left]))].some((array) => others.has(array));
}

/** What names stand for after an assignment; one that may not be made adds to what they stood for. */
function following(arrays: Arrays, statement: SyntaxNode, script: Place, isCertain: boolean): Arrays {
  const { source, turn } = script;
  const { targets, values } = sidesOf(statement);
  const result = new Map(arrays);
  for (const [place, target] of targets.entries()) {
    if (target.name !== 'VariableName') continue;
    const name = textOf(source, target);
    // `a = b = zeros(3)` has one value for two names.
    const value = values[targets.length === values.length ? place : values.length - 1];
    const owner = value === undefined ? null : ownerOf(value, script);
    const given =
      owner === null ? [`${(value ?? statement).from} in turn ${turn}`] : [...(arrays.get(owner) ?? [owner])];
    result.set(name, new Set([...given, ...(isCertain ? [] : (arrays.get(name) ?? []))]));
  }
  return result;
}

const viewMethods = /^(?:T|real|flat|reshape|view|ravel|transpose|swapaxes|squeeze)$/;
const viewFunctions =
  /^(?:asarray|asanyarray|ascontiguousarray|ravel|reshape|transpose|squeeze|swapaxes|atleast_[12]d|broadcast_to)$/;

/** The name of the array that an expression may be a view of; null for an array of its own. */
function ownerOf(node: SyntaxNode, script: Place): string | null {
  const { source, np } = script;
  const first = node.firstChild;
  switch (node.name) {
    case 'VariableName':
      return textOf(source, node);
    case 'ParenthesizedExpression':
      return first?.nextSibling == null ? null : ownerOf(first.nextSibling, script);
    case 'MemberExpression': {
      const isPart = node.getChild('[') !== null || viewMethods.test(textOf(source, node.lastChild ?? node));
      return first !== null && isPart ? ownerOf(first, script) : null;
    }
    case 'CallExpression': {
      const argument = node.getChild('ArgList')?.firstChild?.nextSibling ?? null;
      const [owner, name = ''] = first === null ? [] : textOf(source, first).split('.');
      if (owner === np && viewFunctions.test(name))
        return argument === null ? null : ownerOf(argument, script);
      return first?.name === 'MemberExpression' ? ownerOf(first, script) : null;
    }
    default:
      return null;
  }
}
