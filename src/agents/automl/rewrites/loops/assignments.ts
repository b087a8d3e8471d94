import { childrenOf, nodesOf, type SyntaxNode } from '../../python-source.ts';
import { atom } from './arithmetic.ts';
import { evaluated, materialised } from './expressions.ts';
import { extreme } from './extremes.ts';
import type { Rounds } from './rounds.ts';
import { recurrence } from './running-sums.ts';
import { labelsOf } from './scope.ts';
import { store } from './stores.ts';
import { sidesOf, subscriptsOf } from './syntax.ts';
import { gather } from './totals.ts';
import { nameOfLoop, type Operand, ownRank, Refusal, single, type Value } from './values.ts';

/** `name = value`, `a[i] = value` and several of them in one line. */
export function assignment(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const { targets, values } = sidesOf(node);
  if (targets.length === 1 && begun(rounds, targets[0], values[0], mask)) return;
  if (targets.length === 1 && added(rounds, targets[0], values[0], mask)) return;
  if (targets.length > 1 && values.length === 1 && unpacked(rounds, targets, values[0], mask)) return;
  if (targets.length !== values.length || values.length === 0) throw new Refusal('an assignment to many');
  if (mask === null && targets.length === 1 && extreme(rounds, targets[0], values[0])) return;
  if (mask === null && targets.length === 1 && recurrence(rounds, targets[0], values[0])) return;
  const read = values.map((value) => {
    const all = evaluated(value, rounds);
    return values.length > 1 ? rounds.settled('value', all) : all;
  });
  for (const [place, target] of targets.entries()) {
    const value = read[place];
    if (value === undefined) throw new Refusal('a broken assignment');
    const text = rounds.text(target);
    if (rounds.loops.some((loop) => nameOfLoop(loop) === text)) throw new Refusal('another number of a loop');
    if (target.name === 'VariableName') assign(rounds, text, value, mask);
    else store(rounds, target, '=', value, mask);
  }
}

/** `row = []`, for a list that a loop inside adds to. */
function begun(
  rounds: Rounds,
  target: SyntaxNode | undefined,
  value: SyntaxNode | undefined,
  mask: Operand | null,
): boolean {
  if (
    target?.name !== 'VariableName' ||
    value === undefined ||
    rounds.text(value).replace(/\s/g, '') !== '[]'
  )
    return false;
  if (mask !== null || rounds.loops.length === 0) throw new Refusal('a list of some rounds');
  rounds.begun.set(rounds.text(target), labelsOf(rounds));
  rounds.variables.delete(rounds.text(target));
  return true;
}

/** `total = total + value`, for a total of more than one round. */
function added(
  rounds: Rounds,
  target: SyntaxNode | undefined,
  value: SyntaxNode | undefined,
  mask: Operand | null,
): boolean {
  const [before, sign, share, ...more] = value?.name === 'BinaryExpression' ? childrenOf(value) : [];
  if (target === undefined || before === undefined || sign === undefined || share === undefined) return false;
  const operator = rounds.text(sign);
  const name = rounds.text(target);
  const isLast = operator === '+' && rounds.text(share) === name;
  if (more.length > 0 || !/^[-+]$/.test(operator) || (rounds.text(before) !== name && !isLast)) return false;
  const other = isLast ? before : share;
  if (target.name !== 'VariableName') {
    const names = new Set(nodesOf(target, 'VariableName').map((node) => rounds.text(node)));
    if (rounds.loops.every((loop) => names.has(nameOfLoop(loop)))) return false;
    change(rounds, target, `${operator}=`, other, mask);
    return true;
  }
  const known = rounds.variables.get(name);
  if (known !== undefined && rounds.openedSince(known).length === 0) return false;
  change(rounds, target, `${operator}=`, other, mask);
  return true;
}

/** `red, green, blue = picture[i, j]`. */
function unpacked(
  rounds: Rounds,
  targets: readonly SyntaxNode[],
  value: SyntaxNode | undefined,
  mask: Operand | null,
): boolean {
  if (value === undefined || targets.some(({ name }) => name !== 'VariableName')) return false;
  const { code, axes, isLoose } = materialised(rounds.settled('row', evaluated(value, rounds)), rounds);
  if (isLoose === true || ownRank(axes) !== 1 || axes.at(-1) !== '#1') return false;
  for (const [place, target] of targets.entries()) {
    const part = { code: `${atom(code)}[..., ${place}]`, axes: axes.slice(0, -1) };
    assign(rounds, rounds.text(target), single(part), mask);
  }
  return true;
}

function assign(rounds: Rounds, name: string, value: Value, mask: Operand | null): void {
  if (mask === null) {
    rounds.set(name, rounds.kept(name, value));
    return;
  }
  const before = rounds.variables.has(name) ? rounds.read(name) : null;
  if (before === null) {
    // Rounds that the condition leaves out get a value, too, which nothing reads: it is known in this block alone.
    rounds.set(name, rounds.kept(name, value));
    return;
  }
  const operands = [mask, materialised(value, rounds), materialised(before, rounds)];
  const chosen = rounds.each(operands, (codes) => `${rounds.np}.where(${codes.join(', ')})`);
  rounds.set(name, rounds.kept(name, single(chosen)));
}

/** `total += value` and `a[i] *= value`. */
export function update(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const [target, sign, ...rest] = childrenOf(node);
  const [expression] = rest;
  if (target === undefined || sign === undefined || expression === undefined || rest.length > 1)
    throw new Refusal('a broken update');
  change(rounds, target, rounds.text(sign), expression, mask);
}

function change(
  rounds: Rounds,
  target: SyntaxNode,
  operator: string,
  expression: SyntaxNode,
  mask: Operand | null,
): void {
  const value = evaluated(expression, rounds);
  if (target.name === 'VariableName') addTo(rounds, rounds.text(target), operator, value, mask);
  else {
    const { base } = subscriptsOf(target, rounds.source);
    if (rounds.isOf('whole', rounds.text(base)) && !isWhole(rounds, expression))
      throw new Refusal('fractions that are cut off in every round');
    store(rounds, target, operator, value, mask);
  }
}

/** Whether an expression gives whole numbers, as far as the syntax shows: of whole numbers, without division. */
function isWhole(rounds: Rounds, expression: SyntaxNode): boolean {
  if (!/^[\w\s+\-*,()[\]<>=!]+$/.test(rounds.text(expression)) || expression.name === 'CallExpression')
    return false;
  if (nodesOf(expression, 'CallExpression').length > 0) return false;
  return nodesOf(expression, 'VariableName').every((node) => {
    const name = rounds.text(node);
    return rounds.isOf('whole', name) || rounds.loops.some((loop) => nameOfLoop(loop) === name);
  });
}

/** `total += value`, and `mean /= count` once the sum is complete. */
function addTo(rounds: Rounds, name: string, operator: string, value: Value, mask: Operand | null): void {
  const variable = rounds.variables.get(name);
  const isScaled = /^[*/]=$/.test(operator) && mask === null;
  if (variable === undefined || !isScaled || rounds.openedSince(variable).length > 0) {
    gather(rounds, name, operator, rounds.settled(name, value), mask);
    return;
  }
  const operands = [variable.value, value].map((each) => materialised(each, rounds));
  const scaled = rounds.each(operands, (codes) => codes.map(atom).join(` ${operator[0]} `));
  assign(rounds, name, single(scaled), null);
}
