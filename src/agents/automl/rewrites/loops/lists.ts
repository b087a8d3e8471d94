import type { SyntaxNode } from '../../python-source.ts';
import { atom } from './arithmetic.ts';
import { operandOf } from './expressions.ts';
import type { Rounds } from './rounds.ts';
import { labelsOf } from './scope.ts';
import { appendedList, givenTo } from './syntax.ts';
import { arranged, type Operand, ownAxes, ownRank, Refusal } from './values.ts';

/** `results.append(value)` in all rounds. */
export function append(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const call = node.firstChild;
  if (call?.name === 'String') return;
  const name = call === null ? null : appendedList(rounds.source, call);
  const [argument, ...more] = call === null ? [] : givenTo(call);
  if (name === null || argument === undefined || more.length > 0 || rounds.nest.assigned.has(name))
    throw new Refusal('a call for its effect');
  const operand = operandOf(argument, rounds);
  const axes = [...labelsOf(rounds), ...ownAxes(ownRank(operand.axes))];
  if (labelsOf(rounds).some((label) => !operand.axes.includes(label)))
    throw new Refusal('the same in every round');
  const code = arranged(operand, axes);
  const shown = mask === null ? code : `${atom(code)}[${arranged(mask, labelsOf(rounds))}]`;
  if (mask !== null && labelsOf(rounds).some((label) => !mask.axes.includes(label)))
    throw new Refusal('a choice of whole rows');
  const isFlat = mask !== null || rounds.loops.length === 1;
  if (!isFlat && ownRank(axes) > 0) throw new Refusal('arrays from many loops');
  const list = ownRank(axes) > 0 ? shown : `${atom(shown)}${isFlat ? '' : '.ravel()'}.tolist()`;
  rounds.lines.push(`${name}.extend(${list})`);
}
