import { childrenOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { fullNameOf } from '../python-edit.ts';
import { type Affine, affineOf, atom, combined, comparisons } from './arithmetic.ts';
import { isInvariant } from './invariance.ts';
import { elementwiseNames, reductions } from './numpy-names.ts';
import { isOfNumbers, mayOutgrow } from './powers.ts';
import { labelsOf, type Scope } from './scope.ts';
import { keptInside, numbersOf, type Part, partOfRow, subscript } from './subscripts.ts';
import { givenTo, subscriptsOf } from './syntax.ts';
import { isComparison, isMisread, jointOf } from './truth.ts';
import {
  asOperand,
  elementwise,
  isOwn,
  type Operand,
  ownAxes,
  ownRank,
  Refusal,
  reduced,
  scalar,
  single,
  summed,
  type Value,
} from './values.ts';

/** What an expression comes to in all rounds of the loops that it is in. Throws a refusal where that cannot be told. */
export function evaluated(node: SyntaxNode, scope: Scope): Value {
  if (isInvariant(node, scope)) return invariant(node, scope);
  switch (node.name) {
    case 'ParenthesizedExpression':
      return evaluated(childAt(node, 1), scope);
    case 'VariableName':
      return scope.read(textOf(scope.source, node)) ?? invariant(node, scope);
    case 'UnaryExpression':
      return unary(node, scope);
    case 'BinaryExpression':
      return binary(node, scope);
    case 'ConditionalExpression': {
      const [yes, , condition, , no] = childrenOf(node);
      if (yes === undefined || condition === undefined || no === undefined)
        throw new Refusal('a broken expression');
      const sides = { ...scope, guarded: guardOf(condition, scope) };
      const operands = [evaluatedTruth(condition, scope), evaluated(yes, sides), evaluated(no, sides)];
      return eachOf(operands, scope, (codes) => `${scope.np}.where(${codes.join(', ')})`);
    }
    case 'MemberExpression':
      return member(node, scope);
    case 'CallExpression':
      return call(node, scope);
    case 'ArrayComprehensionExpression':
      return single(scope.listed(node));
    default:
      throw new Refusal(`an expression of the kind ${node.name}`);
  }
}

/** Which subscripts the condition of `… if … else …` may keep inside their arrays. */
function guardOf(condition: SyntaxNode, scope: Scope): Scope['guarded'] {
  const names = [condition, ...nodesOf(condition, 'VariableName')].filter(
    ({ name }) => name === 'VariableName',
  );
  const isOfLoops = names.some(
    (node) => (scope.read(textOf(scope.source, node))?.affine?.terms.size ?? 0) > 0,
  );
  return isOfLoops ? 'all' : scope.guarded === 'none' ? 'lookups' : scope.guarded;
}

/** Whether an expression holds: `and` and `or` give one of their sides, of which here only the truth counts. */
export function evaluatedTruth(node: SyntaxNode, scope: Scope): Value {
  if (node.name === 'ParenthesizedExpression') return evaluatedTruth(childAt(node, 1), scope);
  if (node.name === 'UnaryExpression' && textOf(scope.source, childAt(node, 0)) === 'not')
    return opposite(childAt(node, 1), scope);
  const joint = jointOf(node, scope.source);
  if (joint === null) return evaluated(node, scope);
  if (isMisread(node, scope.source)) throw new Refusal('not, and, or without brackets');
  const sides = [childAt(node, 0), childAt(node, 2)].map((side) => evaluatedTruth(side, scope));
  return eachOf(sides, scope, (codes) => `${scope.np}.logical_${joint}(${codes.join(', ')})`);
}

/** The parser takes `not a and b` for `not (a and b)`: here it is what it is in Python. */
function opposite(node: SyntaxNode, scope: Scope): Value {
  const joint = jointOf(node, scope.source);
  if (joint !== null) {
    const sides = [opposite(childAt(node, 0), scope), evaluatedTruth(childAt(node, 2), scope)];
    return eachOf(sides, scope, (codes) => `${scope.np}.logical_${joint}(${codes.join(', ')})`);
  }
  return eachOf([evaluatedTruth(node, scope)], scope, ([code]) => `${scope.np}.logical_not(${code})`);
}

export function operandOf(node: SyntaxNode, scope: Scope): Operand {
  return materialised(evaluated(node, scope), scope);
}

/** As one array: loop numbers become `np.arange`. */
export function materialised(value: Value, scope: Pick<Scope, 'loops' | 'np'>): Operand {
  if (value.affine !== null && value.affine.terms.size > 0)
    return numbersOf(value.affine, scope.loops, scope.np);
  return asOperand(value, labelsOf(scope));
}

function childAt(node: SyntaxNode, place: number): SyntaxNode {
  const child = childrenOf(node)[place];
  if (child === undefined) throw new Refusal('a broken expression');
  return child;
}

function invariant(node: SyntaxNode, scope: Scope): Value {
  const text = textOf(scope.source, node);
  if (node.name === 'VariableName') {
    const rank = scope.ranks.get(text) ?? null;
    if (rank !== null && rank > 0) return single({ code: arrayOf(text, scope), axes: ownAxes(rank) });
    return rank === 0 ? scalar(text) : loose(text);
  }
  if (node.name === 'MemberExpression' && node.getChild('[') !== null && !/\.shape\[/.test(text))
    return member(node, scope);
  if (node.name === 'ParenthesizedExpression') return evaluated(childAt(node, 1), scope);
  const isNumber =
    node.name === 'Number' ||
    nodesOf(node, 'VariableName').every((name) => scope.ranks.get(textOf(scope.source, name)) === 0);
  const wrapped = /Expression$/.test(node.name) && !/^(?:Member|Call)/.test(node.name) ? `(${text})` : text;
  // Sums and products of numbers are taken apart, so that windows of equal length are seen as such.
  if (/^(?:Binary|Unary)Expression$/.test(node.name)) {
    const parts = node.name === 'BinaryExpression' ? binary(node, scope) : unary(node, scope);
    return parts;
  }
  return isNumber || /\.shape\[-?\d+\]$|^len\(/.test(text) ? scalar(text) : loose(wrapped);
}

function loose(code: string): Value {
  return { factors: [{ code, axes: [], isLoose: true }], affine: { terms: new Map(), constant: code } };
}

function each(nodes: readonly SyntaxNode[], scope: Scope, write: (codes: string[]) => string): Value {
  return eachOf(
    nodes.map((node) => evaluated(node, scope)),
    scope,
    write,
  );
}

function eachOf(values: readonly Value[], scope: Scope, write: (codes: string[]) => string): Value {
  const operands = values.map((value) => materialised(value, scope));
  return single(elementwise(operands, labelsOf(scope), write));
}

function unary(node: SyntaxNode, scope: Scope): Value {
  const sign = textOf(scope.source, childAt(node, 0));
  const inner = childAt(node, 1);
  if (sign === 'not') {
    if (jointOf(inner, scope.source) !== null && !isComparison(inner, scope.source))
      throw new Refusal('one of two values');
    return opposite(inner, scope);
  }
  if (sign !== '-' && sign !== '+') throw new Refusal(`the sign ${sign}`);
  const value = evaluated(inner, scope);
  if (sign === '+') return value;
  const affine =
    value.affine === null ? null : combined({ terms: new Map(), constant: '0' }, value.affine, '-');
  const operand = elementwise(
    [asOperand(value, labelsOf(scope))],
    labelsOf(scope),
    ([code]) => `-${atom(code ?? '')}`,
  );
  return { factors: [operand], affine };
}

function binary(node: SyntaxNode, scope: Scope): Value {
  const [first, sign, second] = childrenOf(node);
  if (first === undefined || sign === undefined || second === undefined || childrenOf(node).length !== 3)
    throw new Refusal('an operator of two words');
  const operator = textOf(scope.source, sign);
  if (operator === '@') return dotted(first, second, scope);
  if (/^(?:and|or)$/.test(operator)) {
    if (![first, second].every((side) => isComparison(side, scope.source)))
      throw new Refusal('one of two values');
    return evaluatedTruth(node, scope);
  }
  if (comparisons.test(operator) && isCompared(first, scope)) {
    const sides = [evaluated(first, scope), compared(childAt(first, 2), operator, second, scope)];
    return eachOf(sides, scope, (codes) => `${scope.np}.logical_and(${codes.join(', ')})`);
  }
  if (!comparisons.test(operator) && !/^(?:[-+*/%&|^]|\*\*|\/\/)$/.test(operator))
    throw new Refusal(`the operator ${operator}`);
  return compared(first, operator, second, scope);
}

/** A comparison without brackets around it, which may go on as a chain. */
function isCompared(node: SyntaxNode, scope: Scope): boolean {
  return node.name === 'BinaryExpression' && comparisons.test(textOf(scope.source, childAt(node, 1)));
}

/** Two sides of an operator that is no chain of comparisons. */
function compared(first: SyntaxNode, operator: string, second: SyntaxNode, scope: Scope): Value {
  const [left, right] = [evaluated(first, scope), evaluated(second, scope)];
  if (operator === '**' && (mayOutgrow(left, right) || isOfNumbers(left, right, scope.np)))
    throw new Refusal('whole numbers without bounds');
  const affine = affineOf(left.affine, operator, right.affine);
  if (operator === '*') return { factors: [left, right].flatMap((side) => factorsOf(side, scope)), affine };
  const operands =
    affine === null ? [materialised(left, scope), materialised(right, scope)] : [{ code: '0', axes: [] }];
  if (affine !== null) {
    const isLoose = [...left.factors, ...right.factors].some((factor) => factor.isLoose === true);
    return { factors: [{ code: `(${affine.constant})`, axes: [], isLoose }], affine };
  }
  return single(
    elementwise(
      operands,
      labelsOf(scope),
      ([one, two]) => `${atom(one ?? '')} ${operator} ${atom(two ?? '')}`,
    ),
  );
}

/** A product's factors; a loop's number is an array of its own. */
function factorsOf(value: Value, scope: Scope): readonly Operand[] {
  return (value.affine?.terms.size ?? 0) > 0 ? [materialised(value, scope)] : value.factors;
}

/** A list as an array; refuses what has no numbers in order. */
function arrayOf(name: string, { kinds, arrays, np }: Scope): string {
  const kind = kinds.get(name);
  if (kind?.has('other') === true) throw new Refusal('what is no array');
  // What pandas is asked for parts by is no array itself.
  const mayBeList = kind?.has('list') === true || !(arrays.has(name) || /\.i?loc$/.test(name));
  return mayBeList ? `${np}.asarray(${name})` : name;
}

/** `a[i, j]`, `a[i][j]`, and the transpose of what is the same in every round. */
function member(node: SyntaxNode, scope: Scope): Value {
  const { base, parts } = subscriptsOf(node, scope.source);
  const name = textOf(scope.source, base);
  const [, half] = /\.\s*(real|imag)$/.exec(textOf(scope.source, node)) ?? [];
  if (half !== undefined && node.firstChild !== null)
    return each([node.firstChild], scope, ([code = '']) => `${atom(code)}.${half}`);
  if (parts.length === 0 || !/^[\w.]+$/.test(name)) throw new Refusal('an attribute of what changes');
  const changing = base.name === 'VariableName' ? scope.read(name) : null;
  const read = parts.map((part) => partOf(part, scope));
  if (changing !== null) {
    const operand = materialised(changing, scope);
    if (operand.axes.length > 0)
      return single(partOfRow(operand, read, scope.loops, scope.guarded !== 'none'));
  }
  scope.checkRead(name.split('.')[0] ?? name, textOf(scope.source, node).slice(name.length));
  const rank = scope.ranks.get(name) ?? null;
  const code = arrayOf(name, scope);
  const inside = read.map((part, place) => {
    const isInside = scope.guarded === 'none' || (scope.guarded === 'lookups' && part.kind === 'number');
    return isInside ? part : keptInside(part, place, code, scope);
  });
  return single(subscript(code, inside, rank, scope.loops, scope.np));
}

export function partOf(nodes: readonly SyntaxNode[], scope: Scope): Part {
  const [only] = nodes;
  const colons = nodes.filter(({ name }) => name === ':');
  if (nodes.length === 1 && only !== undefined && only.name !== ':') {
    if (/^(?:Ellipsis|\.\.\.)$/.test(textOf(scope.source, only))) return { kind: 'rest' };
    if (only.name === 'TupleExpression' || only.name === 'None') throw new Refusal('a new axis');
    const value = evaluated(only, scope);
    if (value.affine !== null) return { kind: 'number', affine: value.affine };
    return { kind: 'gather', operand: materialised(value, scope) };
  }
  if (colons.length !== 1) throw new Refusal('a slice with a step');
  const bound = (node: SyntaxNode | undefined): Affine | null => {
    if (node === undefined) return null;
    const { affine } = evaluated(node, scope);
    if (affine === null) throw new Refusal('a slice of changing length');
    return affine;
  };
  const colon = nodes.findIndex(({ name }) => name === ':');
  return { kind: 'slice', first: bound(nodes[colon - 1]), end: bound(nodes[colon + 1]) };
}

function call(node: SyntaxNode, scope: Scope): Value {
  const { source, np } = scope;
  const callee = node.firstChild;
  const list = givenTo(node);
  if (
    callee === null ||
    list.some(({ name }) => name === 'AssignOp' || name === '*' || name === '**' || name === 'for')
  )
    throw new Refusal('keyword arguments');
  const name = fullNameOf(source, callee, scope.imports) ?? textOf(source, callee);
  const [first, second] = list;
  const own = elementwiseNames[name];
  if (own !== undefined) {
    const isWhole = /^math\.(?:floor|ceil)$/.test(name);
    return each(list, scope, (codes) => `${np}.${own}(${codes.join(', ')})${isWhole ? '.astype(int)' : ''}`);
  }
  if (first === undefined && callee.name !== 'MemberExpression') throw new Refusal('a call of nothing');
  if (/^(?:max|min)$/.test(name) && list.length > 1) {
    return each(list, scope, (codes) =>
      codes.reduce((left, right) => `${np}.${name}imum(${left}, ${right})`),
    );
  }
  if (name === 'len' && first !== undefined) {
    const { code, axes, isLoose } = operandOf(first, scope);
    const place = axes.findIndex(isOwn);
    if (place < 0 || isLoose === true) throw new Refusal('the length of what is no row');
    return scalar(`${atom(code)}.shape[${place}]`);
  }
  if (name === 'float' && first !== undefined) return evaluated(first, scope);
  if (name === 'complex' && list.length === 2)
    return each(list, scope, ([real = '', imaginary = '']) => `${real} + 1j * ${atom(imaginary)}`);
  if (/^(?:int|bool)$/.test(name) && first !== undefined) {
    return each([first], scope, ([code]) => `${np}.asarray(${code}).astype(${name})`);
  }
  if (/^numpy\.(?:dot|inner|vdot)$/.test(name) && first !== undefined && second !== undefined)
    return dotted(first, second, scope);
  if (name === 'numpy.linalg.norm' && first !== undefined && second === undefined) {
    const operand = operandOf(first, scope);
    const squares = reduced(
      { ...operand, code: `${atom(operand.code)} ** 2` },
      operand.axes.filter(isOwn),
      `${np}.sum`,
    );
    return single({ ...squares, code: `${np}.sqrt(${squares.code})` });
  }
  const method =
    callee.name === 'MemberExpression' && callee.firstChild !== null && list.length === 0
      ? callee.firstChild
      : null;
  const reduction = reductions[/^(?:numpy\.)?(\w+)$/.exec(name)?.[1] ?? ''];
  if (reduction !== undefined && first !== undefined && second === undefined)
    return reductionOf(first, reduction, scope);
  const last = reductions[textOf(source, callee.lastChild ?? callee)];
  if (method !== null && last !== undefined) return reductionOf(method, last, scope);
  throw new Refusal(`a call of ${name}`);
}

/** `np.sum(…)` of what one round sees. */
function reductionOf(node: SyntaxNode, name: string, scope: Scope): Value {
  const value = evaluated(node, scope);
  const own = [...new Set(value.factors.flatMap(({ axes }) => axes.filter(isOwn)))];
  if (own.length === 0) throw new Refusal('a sum of what is not known to be an array');
  if (own.length > 1 && /^(?:arg|median)/.test(name)) throw new Refusal('places in several axes');
  if (name === 'sum') return single(summed(value, own, labelsOf(scope), scope.np));
  return single(reduced(asOperand(value, labelsOf(scope)), own, `${scope.np}.${name}`));
}

/** The product of two vectors, as each round sees them. */
function dotted(first: SyntaxNode, second: SyntaxNode, scope: Scope): Value {
  const [left, right] = [operandOf(first, scope), operandOf(second, scope)];
  if (ownRank(left.axes) !== 1 || ownRank(right.axes) !== 1) throw new Refusal('a product of matrices');
  return single(summed({ factors: [left, right], affine: null }, ['#1'], labelsOf(scope), scope.np));
}
