import { childrenOf, nodesOf, type SyntaxNode } from '../../python-source.ts';
import { plus } from './arithmetic.ts';
import { evaluated, materialised } from './expressions.ts';
import type { Rounds } from './rounds.ts';
import { calledIn, givenTo, sidesOf } from './syntax.ts';
import { nameOfLoop, type Operand, Refusal, reduced, single } from './values.ts';

/** `best = max(best, value)`. */
export function extreme(
  rounds: Rounds,
  target: SyntaxNode | undefined,
  value: SyntaxNode | undefined,
): boolean {
  if (target?.name !== 'VariableName' || value?.name !== 'CallExpression') return false;
  const callee = /^(?:max|min)$/.exec(calledIn(rounds.source, value))?.[0];
  const list = givenTo(value);
  const name = rounds.text(target);
  const [other, ...more] = list.filter((each) => rounds.text(each) !== name);
  if (callee === undefined || list.length !== 2 || other === undefined || more.length > 0) return false;
  const variable = rounds.gathering(name);
  const over = rounds.openedSince(variable);
  if (over.length === 0 || variable.gatheredOver.length > 0) throw new Refusal('an extreme of nothing');
  const operand = materialised(rounds.settled(name, evaluated(other, rounds)), rounds);
  const found = reduced(operand, over, `${rounds.np}.${callee}`);
  const operands = [materialised(variable.value, rounds), found];
  const best = rounds.each(operands, (codes) => `${rounds.np}.${callee}imum(${codes.join(', ')})`);
  rounds.variables.set(name, { ...variable, value: single(best), gatheredOver: over, running: null });
  return true;
}

/** What an `if` asks that looks for the least or the greatest value. */
interface Search {
  best: SyntaxNode;
  value: SyntaxNode;
  isLeast: boolean;
  body: SyntaxNode;
}

/** `if value < best: best = value` and the like, from either side; null for any other condition. */
function searchOf(rounds: Rounds, node: SyntaxNode): Search | null {
  const [, test, body, ...others] = childrenOf(node);
  if (others.length > 0 || test?.name !== 'BinaryExpression' || body === undefined) return null;
  const [left, sign, right] = childrenOf(test);
  if (left === undefined || sign === undefined || right === undefined) return null;
  if (!/^[<>]$/.test(rounds.text(sign))) return null;
  const isBest = (side: SyntaxNode) =>
    rounds.variables.has(rounds.text(side)) && isAssignedIn(rounds, body, side);
  const isLess = rounds.text(sign) === '<';
  if (isBest(right)) return { best: right, value: left, isLeast: isLess, body };
  return isBest(left) ? { best: left, value: right, isLeast: !isLess, body } : null;
}

/** `if value < best: best = value` and, with it, `place = j`: the least value, and the first round that has it. */
export function best(rounds: Rounds, node: SyntaxNode, mask: Operand | null): boolean {
  const search = mask === null ? searchOf(rounds, node) : null;
  const variable = search === null ? undefined : rounds.variables.get(rounds.text(search.best));
  if (search === null || variable === undefined) return false;
  const over = rounds.openedSince(variable);
  if (over.length === 0 || variable.gatheredOver.length > 0) throw new Refusal('the best of nothing');
  const operand = materialised(rounds.settled('value', evaluated(search.value, rounds)), rounds);
  const start = materialised(variable.value, rounds);
  for (const statement of childrenOf(search.body).filter(({ name }) => name !== ':' && name !== 'Comment')) {
    const { targets, values } =
      statement.name === 'AssignStatement' ? sidesOf(statement) : { targets: [], values: [] };
    if (targets.length !== values.length || targets.length === 0) throw new Refusal('more than the best');
    for (const [place, target] of targets.entries()) {
      const name = rounds.text(target);
      const held = rounds.variables.get(name);
      const given = values[place];
      if (given === undefined || held === undefined || held.definedIn.length !== variable.definedIn.length)
        throw new Refusal('more than the best');
      const result = foundBest(rounds, search, { operand, start, over }, given);
      rounds.variables.set(name, { ...held, value: single(result), gatheredOver: over, running: null });
    }
  }
  return true;
}

/** The best value, or the number of the round that has it, by what the body of the condition keeps. */
function foundBest(
  rounds: Rounds,
  { value, isLeast }: Search,
  { operand, start, over }: { operand: Operand; start: Operand; over: readonly string[] },
  given: SyntaxNode,
): Operand {
  const isInfinite = /\binf/.test(start.code);
  const which = isLeast ? 'min' : 'max';
  if (rounds.text(given) === rounds.text(value)) {
    const found = reduced(operand, over, `${rounds.np}.${which}`);
    if (isInfinite) return found;
    return rounds.each([start, found], (codes) => `${rounds.np}.${which}imum(${codes.join(', ')})`);
  }
  const loop = rounds.loops.find(({ label }) => label === over[0]);
  if (loop === undefined || over.length > 1 || !isInfinite || rounds.text(given) !== nameOfLoop(loop))
    throw new Refusal('more than the best');
  if (loop.step !== '1') throw new Refusal('the best of a loop with a step');
  const found = reduced(operand, over, `${rounds.np}.arg${which}`);
  return { ...found, code: plus(found.code, loop.first) };
}

function isAssignedIn(rounds: Rounds, body: SyntaxNode, name: SyntaxNode): boolean {
  return (
    name.name === 'VariableName' &&
    nodesOf(body, 'AssignStatement').some((node) =>
      sidesOf(node).targets.some((target) => rounds.text(target) === rounds.text(name)),
    )
  );
}
