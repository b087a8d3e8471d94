import { childrenOf, nodesOf, type SyntaxNode, textOf } from '../../python-source.ts';
import { evaluated, materialised, operandOf } from './expressions.ts';
import { best, extreme } from './extremes.ts';
import { append } from './lists.ts';
import { open } from './loop-headers.ts';
import { isUsedLater } from './nest.ts';
import { Rounds, type Script } from './rounds.ts';
import { recurrence } from './running-sums.ts';
import { store } from './stores.ts';
import { sidesOf, targetsOf } from './syntax.ts';
import { gather } from './totals.ts';
import { type Operand, Refusal, single, type Value } from './values.ts';

/** Statements without loops that do what a loop does; null where this cannot be told from the syntax. */
export function vectorised(loop: SyntaxNode, script: Script): string[] | null {
  // Of arrays that nothing else is known of, a round sees numbers, or else rows.
  for (const more of [0, 1]) {
    try {
      const ranks = guessedRanks(script, loop, more);
      const lines = linesOf(new Rounds(loop, { ...script, ranks }));
      return lines.length === 0 ? null : lines;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
  return null;
}

/** The ranks that are known, and for other arrays the longest subscript that the script has of them, and some more. */
function guessedRanks(script: Script, loop: SyntaxNode, more: number): ReadonlyMap<string, number> {
  const ranks = new Map(script.ranks);
  const lengths = new Map<string, number>();
  for (const node of nodesOf(loop, 'MemberExpression')) {
    const name = node.firstChild === null ? '' : textOf(script.source, node.firstChild);
    const places = node.getChildren(',').length + 1;
    if (node.getChild('[') !== null && /^\w+$/.test(name))
      lengths.set(name, Math.max(places, lengths.get(name) ?? 0));
  }
  for (const [name, length] of lengths) if (!ranks.has(name)) ranks.set(name, length + more);
  return ranks;
}

/** What the loops do, and what they leave behind. */
function linesOf(rounds: Rounds): string[] {
  loop(rounds, rounds.nest.loop, null);
  const outer = [...rounds.variables].filter(([, { isOuter }]) => isOuter);
  for (const [name, { value }] of outer) {
    const operand = materialised(value, rounds);
    if (operand.axes.length > 0) throw new Refusal('a number that is an array at the end');
    rounds.lines.push(`${name} = ${operand.code}`);
  }
  if (isUsedLater(rounds.nest, rounds.source, new Set(outer.map(([name]) => name))))
    throw new Refusal('a name that is used later');
  return rounds.lines;
}

function statements(rounds: Rounds, body: SyntaxNode, mask: Operand | null): void {
  for (const statement of childrenOf(body)) oneStatement(rounds, statement, mask);
}

/** @param mask in which rounds it is done; null for all */
function oneStatement(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  switch (node.name) {
    case ':':
    case 'Comment':
    case 'PassStatement':
      return;
    case 'ForStatement':
      loop(rounds, node, mask);
      break;
    case 'AssignStatement':
      assignment(rounds, node, mask);
      break;
    case 'UpdateStatement':
      update(rounds, node, mask);
      break;
    case 'IfStatement':
      condition(rounds, node, mask);
      break;
    case 'ExpressionStatement':
      append(rounds, node, mask);
      break;
    default:
      throw new Refusal(`a ${node.name}`);
  }
}

function loop(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const children = childrenOf(node);
  const bodies = children.filter(({ name }) => name === 'Body');
  const [body] = bodies;
  const iterated = children[children.findIndex(({ name }) => name === 'in') + 1];
  if (body === undefined || bodies.length > 1 || iterated === undefined || children[0]?.name !== 'for')
    throw new Refusal('a loop with an else');
  open(rounds, targetsOf(node), iterated);
  statements(rounds, body, mask);
  rounds.loops.pop();
}

function assignment(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const { targets, values } = sidesOf(node);
  if (targets.length !== values.length || values.length === 0) throw new Refusal('an assignment to many');
  if (mask === null && targets.length === 1 && extreme(rounds, targets[0], values[0])) return;
  if (mask === null && targets.length === 1 && recurrence(rounds, targets[0], values[0])) return;
  const read = values.map((value) => evaluated(value, rounds));
  for (const [place, target] of targets.entries()) {
    const value = read[place];
    if (value === undefined) throw new Refusal('a broken assignment');
    if (target.name === 'VariableName') assign(rounds, rounds.text(target), value, mask);
    else store(rounds, target, '=', value, mask);
  }
}

function assign(rounds: Rounds, name: string, value: Value, mask: Operand | null): void {
  if (mask === null) {
    rounds.set(name, rounds.kept(name, value));
    return;
  }
  const before = rounds.variables.has(name) ? rounds.read(name) : null;
  if (before === null) throw new Refusal('a value that only some rounds have');
  const operands = [mask, materialised(value, rounds), materialised(before, rounds)];
  const chosen = rounds.each(operands, (codes) => `${rounds.np}.where(${codes.join(', ')})`);
  rounds.set(name, rounds.kept(name, single(chosen)));
}

function update(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const [target, sign, ...rest] = childrenOf(node);
  const [expression] = rest;
  if (target === undefined || sign === undefined || expression === undefined || rest.length > 1)
    throw new Refusal('a broken update');
  const operator = rounds.text(sign);
  const value = evaluated(expression, rounds);
  if (target.name === 'VariableName') gather(rounds, rounds.text(target), operator, value, mask);
  else store(rounds, target, operator, value, mask);
}

function condition(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  if (best(rounds, node, mask)) return;
  let remaining = mask;
  const children = childrenOf(node);
  for (const [place, child] of children.entries()) {
    if (child.name !== 'Body') continue;
    const before = children[place - 1];
    const test = before !== undefined && before.name !== 'else' ? operandOf(before, rounds) : null;
    statements(rounds, child, test === null ? remaining : both(rounds, remaining, test));
    if (test === null) continue;
    const opposite = rounds.each([test], ([code]) => `${rounds.np}.logical_not(${code})`);
    remaining = both(rounds, remaining, opposite);
  }
}

function both(rounds: Rounds, left: Operand | null, right: Operand): Operand {
  if (left === null) return right;
  return rounds.each([left, right], (codes) => `${rounds.np}.logical_and(${codes.join(', ')})`);
}
