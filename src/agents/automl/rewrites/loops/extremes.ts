import { childrenOf, nodesOf, type SyntaxNode } from '../../python-source.ts';
import { plus } from './arithmetic.ts';
import { labelsOf, materialised, operandOf } from './expressions.ts';
import type { Rounds } from './rounds.ts';
import { sidesOf } from './syntax.ts';
import { elementwise, nameOfLoop, type Operand, Refusal, reduced, single } from './values.ts';

/** `best = max(best, value)`. */
export function extreme(
  rounds: Rounds,
  target: SyntaxNode | undefined,
  value: SyntaxNode | undefined,
): boolean {
  if (target?.name !== 'VariableName' || value?.name !== 'CallExpression') return false;
  const callee = /^(?:max|min)$/.exec(rounds.text(value.firstChild ?? value))?.[0];
  const list = childrenOf(value.getChild('ArgList') ?? value).filter(({ name }) => !/^[(),]$/.test(name));
  const name = rounds.text(target);
  const [other, ...more] = list.filter((each) => rounds.text(each) !== name);
  if (callee === undefined || list.length !== 2 || other === undefined || more.length > 0) return false;
  const variable = rounds.gathering(name);
  const over = rounds.openedSince(variable);
  if (over.length === 0 || variable.gatheredOver.length > 0) throw new Refusal('an extreme of nothing');
  const found = reduced(operandOf(other, rounds), over, `${rounds.np}.${callee}`);
  const operands = [materialised(variable.value, rounds), found];
  const best = elementwise(
    operands,
    labelsOf(rounds),
    (codes) => `${rounds.np}.${callee}imum(${codes.join(', ')})`,
  );
  rounds.variables.set(name, { ...variable, value: single(best), gatheredOver: over, running: null });
  return true;
}

/** `if value < best: best = value` and, with it, `place = j`: the least value, and the first round that has it. */
export function best(rounds: Rounds, node: SyntaxNode, mask: Operand | null): boolean {
  const [, test, body, ...others] = childrenOf(node);
  if (mask !== null || others.length > 0 || test?.name !== 'BinaryExpression' || body === undefined)
    return false;
  const [left, sign, right] = childrenOf(test);
  if (left === undefined || sign === undefined || right === undefined || !/^[<>]$/.test(rounds.text(sign)))
    return false;
  const [best, value] =
    rounds.variables.has(rounds.text(right)) && isAssignedIn(rounds, body, right)
      ? [right, left]
      : [left, right];
  const variable = rounds.variables.get(rounds.text(best));
  if (variable === undefined || !isAssignedIn(rounds, body, best)) return false;
  const isLeast = (rounds.text(sign) === '<') === (best === right);
  const over = rounds.openedSince(variable);
  const [label, ...more] = over;
  const loop = rounds.loops.find((each) => each.label === label);
  if (loop === undefined || more.length > 0 || variable.gatheredOver.length > 0)
    throw new Refusal('the best of many loops');
  const operand = operandOf(value, rounds);
  const start = materialised(variable.value, rounds).code;
  const isInfinite = /\binf\b/.test(start) || /\binf/.test(start);
  for (const statement of childrenOf(body).filter(({ name }) => name !== ':' && name !== 'Comment')) {
    const { targets, values } =
      statement.name === 'AssignStatement' ? sidesOf(statement) : { targets: [], values: [] };
    if (targets.length !== values.length || targets.length === 0) throw new Refusal('more than the best');
    for (const [place, target] of targets.entries()) {
      const given = values[place];
      const name = rounds.text(target);
      const held = rounds.variables.get(name);
      if (given === undefined || held === undefined || held.definedIn.length !== variable.definedIn.length)
        throw new Refusal('more than the best');
      const isValue = rounds.text(given) === rounds.text(value);
      const isNumber = rounds.text(given) === nameOfLoop(loop);
      if (!isValue && !(isNumber && isInfinite)) throw new Refusal('more than the best');
      const callee = `${rounds.np}.${isValue ? '' : 'arg'}${isLeast ? 'min' : 'max'}`;
      const found = reduced(operand, [loop.label], callee);
      const number = loop.step === '1' ? plus(found.code, loop.first) : '';
      if (!isValue && number === '') throw new Refusal('the best of a loop with a step');
      const starting = { code: start, axes: materialised(variable.value, rounds).axes };
      const whole = isInfinite
        ? found
        : elementwise(
            [starting, found],
            labelsOf(rounds),
            (codes) => `${rounds.np}.${isLeast ? 'min' : 'max'}imum(${codes.join(', ')})`,
          );
      const result = isValue ? whole : { ...found, code: number };
      rounds.variables.set(name, { ...held, value: single(result), gatheredOver: over, running: null });
    }
  }
  return true;
}

export function isAssignedIn(rounds: Rounds, body: SyntaxNode, name: SyntaxNode): boolean {
  return (
    name.name === 'VariableName' &&
    nodesOf(body, 'AssignStatement').some((node) =>
      sidesOf(node).targets.some((target) => rounds.text(target) === rounds.text(name)),
    )
  );
}
