import { childrenOf, type SyntaxNode } from '../../python-source.ts';
import { minus, plus } from './arithmetic.ts';
import { operandOf, partOf } from './expressions.ts';
import type { Rounds } from './rounds.ts';
import { subscript } from './subscripts.ts';
import { subscriptsOf } from './syntax.ts';
import { Refusal } from './values.ts';

/** `out[i] = out[i - 1] + value`: a running sum that goes on from the entry before the first round. */
export function recurrence(
  rounds: Rounds,
  target: SyntaxNode | undefined,
  value: SyntaxNode | undefined,
): boolean {
  const [loop, ...more] = rounds.loops;
  const [before, sign, share] = value?.name === 'BinaryExpression' ? childrenOf(value) : [];
  if (
    target?.name !== 'MemberExpression' ||
    before === undefined ||
    sign === undefined ||
    share === undefined
  )
    return false;
  const [place, last] = [target, before].map((node) => subscriptsOf(node, rounds.source));
  const isAlike =
    place !== undefined && last !== undefined && rounds.text(place.base) === rounds.text(last.base);
  if (loop === undefined || more.length > 0 || !isAlike || rounds.text(sign) !== '+' || loop.step !== '1')
    return false;
  if (place.parts.length !== 1 || last.parts.length !== 1 || before.name !== 'MemberExpression') return false;
  const [here, there] = [place, last].map(({ parts }) => partOf(parts[0] ?? [], rounds));
  if (here?.kind !== 'number' || there?.kind !== 'number' || here.affine.terms.get(loop.label) !== '1')
    return false;
  if (
    there.affine.terms.get(loop.label) !== '1' ||
    minus(here.affine.constant, there.affine.constant) !== '1'
  )
    return false;
  const operand = operandOf(share, rounds);
  if (!operand.axes.includes(loop.label)) throw new Refusal('the same in every round');
  const name = rounds.text(place.base);
  if ((rounds.nest.written.get(name)?.length ?? 0) > 1) throw new Refusal('a sum that is changed on the way');
  const { code } = subscript(name, [here], 1, rounds.loops, rounds.np);
  const first = plus(loop.first, there.affine.constant);
  rounds.lines.push(
    `${code} = ${name}[${first}] + ${rounds.np}.cumsum(${operand.code}, axis=${operand.axes.indexOf(loop.label)})`,
  );
  return true;
}
