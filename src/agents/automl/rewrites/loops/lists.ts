import type { SyntaxNode } from '../../python-source.ts';
import { atom } from './arithmetic.ts';
import { operandOf } from './expressions.ts';
import { open } from './loop-headers.ts';
import type { Rounds } from './rounds.ts';
import { labelsOf } from './scope.ts';
import { partsOf } from './short-forms.ts';
import { appendedList, givenTo } from './syntax.ts';
import { arranged, type Operand, ownAxes, ownRank, Refusal, single } from './values.ts';

/** `results.append(value)` in all rounds. */
export function append(rounds: Rounds, node: SyntaxNode, mask: Operand | null): void {
  const call = node.firstChild;
  if (call?.name === 'String') return;
  const name = call === null ? null : appendedList(rounds.source, call);
  const [argument, ...more] = call === null ? [] : givenTo(call);
  if (name === null || argument === undefined || more.length > 0) throw new Refusal('a call for its effect');
  if (rounds.begun.has(name)) {
    addToRow(rounds, name, argument, mask);
    return;
  }
  if (rounds.nest.assigned.has(name)) throw new Refusal('a call for its effect');
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
  const isList = argument.name === 'ArrayComprehensionExpression' || rounds.begun.has(rounds.text(argument));
  const isOfArrays = ownRank(axes) > 0 && !isList;
  const list = isOfArrays ? shown : `${atom(shown)}${isFlat ? '' : '.ravel()'}.tolist()`;
  rounds.lines.push(`${name}.extend(${list})`);
}

/** `row.append(value)`, for a list that each round of the loops around begins anew. */
function addToRow(rounds: Rounds, name: string, argument: SyntaxNode, mask: Operand | null): void {
  const labels = labelsOf(rounds);
  const isNext = labels.length === (rounds.begun.get(name)?.length ?? 0) + 1;
  if (mask !== null || !isNext || rounds.variables.has(name))
    throw new Refusal('a list that grows otherwise');
  rounds.set(name, single(asRow(operandOf(argument, rounds), labels)));
}

/** The last of these loops becomes an axis of what one round of the others sees. */
function asRow(operand: Operand, labels: readonly string[]): Operand {
  const label = labels.at(-1) ?? '';
  if (!operand.axes.includes(label) || operand.isLoose === true) throw new Refusal('the same in every round');
  const around = labels.slice(0, -1).filter((each) => operand.axes.includes(each));
  const own = ownAxes(ownRank(operand.axes));
  const code = arranged(operand, [...around, label, ...own]);
  return { code, axes: [...around, `#${own.length + 1}`, ...own] };
}

/** `[f(v) for v in row]`, as each round sees it: what it goes through becomes an axis of the list. */
export function listOf(rounds: Rounds, node: SyntaxNode): Operand {
  const parts = partsOf(node);
  const [clause, ...more] = parts?.clauses ?? [];
  if (parts === null || clause?.kind !== 'for' || more.length > 0)
    throw new Refusal('a list with conditions');
  const names = clause.targets.map((target) => rounds.text(target));
  if (names.some((name) => rounds.nest.assigned.has(name) || rounds.variables.has(name)))
    throw new Refusal('a name for two things');
  let list: Operand | null = null;
  rounds.locals(() => {
    if (open(rounds, { names, changes: new Set() }, clause.node) !== null)
      throw new Refusal('a list of changing length');
    list = asRow(operandOf(parts.element, rounds), labelsOf(rounds));
    rounds.loops.pop();
  });
  if (list === null) throw new Refusal('a list of one line');
  return list;
}
