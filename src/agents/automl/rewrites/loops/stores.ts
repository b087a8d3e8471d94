import type { SyntaxNode } from '../../python-source.ts';
import { atom } from './arithmetic.ts';
import { materialised, partOf } from './expressions.ts';
import type { Rounds } from './rounds.ts';
import { labelsOf } from './scope.ts';
import { numbersOf, type Part, subscript } from './subscripts.ts';
import { subscriptsOf } from './syntax.ts';
import { arranged, isOwn, type Operand, ownAxes, ownRank, Refusal, type Value } from './values.ts';

/** `out[i, j] = value` and `out[i, j] += value`. */
export function store(
  rounds: Rounds,
  target: SyntaxNode,
  operator: string,
  value: Value,
  mask: Operand | null,
): void {
  const { base, parts } = subscriptsOf(target, rounds.source);
  const name = rounds.text(base);
  if (!/^\w+(?:\.\w+)*$/.test(name) || parts.length === 0 || rounds.nest.assigned.has(name))
    throw new Refusal('a target that is no array');
  if (!/^(?:[-+*]?=|\/=)$/.test(operator)) throw new Refusal(`the operator ${operator}`);
  const isList = rounds.isOf('list', name) || rounds.isOf('other', name);
  if (isList && (operator !== '=' || parts.length > 1 || mask !== null))
    throw new Refusal('a list that is no array');
  const read = parts.map((part) => partOf(part, rounds));
  if (read.some((part) => part.kind === 'gather')) {
    scatter(rounds, name, operator, read, value, mask);
    return;
  }
  const place = subscript(name, read, rounds.ranks.get(name) ?? null, rounds.loops, rounds.np);
  const isSum = operator === '+=' || operator === '-=';
  if (place.code.includes('sliding_window_view') || place.code.includes(`${rounds.np}.arange`)) {
    if (!isSum) throw new Refusal('places that overlap');
    scatter(
      rounds,
      name,
      operator,
      read.map((part) => asNumbers(rounds, part)),
      value,
      mask,
    );
    return;
  }
  if (new Set(place.axes).size < place.axes.length) throw new Refusal('places that overlap');
  const over = labelsOf(rounds).filter((label) => !place.axes.includes(label));
  if (over.length > 0 && !isSum) throw new Refusal('a place that many rounds write to');
  const share = isSum ? rounds.summedOver(rounds.masked(value, mask), over) : materialised(value, rounds);
  if (ownRank(share.axes) > ownRank(place.axes) && rounds.ranks.has(name))
    throw new Refusal('an array for the place of a number');
  const code = placed(share, place);
  const isMasked = mask !== null && !isSum;
  const changed = operator === '=' ? code : `${place.code} ${operator[0]} ${atom(code)}`;
  const right = isMasked ? `${rounds.np}.where(${placed(mask, place)}, ${changed}, ${place.code})` : code;
  // A whole array is named by a slice of it, since the name alone would be given another array.
  const left = place.code.includes('[') ? place.code : `${place.code}[:]`;
  if (isList && rounds.loops.some(({ label }) => !share.axes.includes(label)))
    throw new Refusal('the same in every round');
  const sign = isMasked ? '=' : operator;
  rounds.lines.push(`${left} ${sign} ${isList ? `${atom(right)}.tolist()` : right}`);
}

function asNumbers(rounds: Rounds, part: Part): Part {
  if (part.kind !== 'number' || part.affine.terms.size === 0) return part;
  return { kind: 'gather', operand: numbersOf(part.affine, rounds.loops, rounds.np) };
}

/** `counts[which[i]] += 1`: several rounds may add to the same place. */
export function scatter(
  rounds: Rounds,
  name: string,
  operator: string,
  parts: readonly Part[],
  value: Value,
  mask: Operand | null,
): void {
  if (operator !== '+=' && operator !== '-=') throw new Refusal('places that may be the same');
  // Rounds in which nothing is done add nought to the first place.
  const inside = parts.map((part): Part => {
    if (mask === null || part.kind !== 'gather') return part;
    const code = rounds.each([mask, part.operand], (codes) => `${rounds.np}.where(${codes.join(', ')}, 0)`);
    return { kind: 'gather', operand: code };
  });
  const place = subscript(name, inside, null, rounds.loops, rounds.np);
  const [, subscripts] = /^[\w.]+\[(.*)\]$/s.exec(place.code) ?? [];
  const share = materialised(rounds.masked(value, mask), rounds);
  if (subscripts === undefined || labelsOf(rounds).some((label) => !place.axes.includes(label)))
    throw new Refusal('places of unknown shape');
  const callee = operator === '+=' ? 'add' : 'subtract';
  rounds.lines.push(`${rounds.np}.${callee}.at(${name}, (${subscripts},), ${arranged(share, place.axes)})`);
}

/** An operand whose axes stand as those of a place do. */
function placed(operand: Operand, place: Operand): string {
  const rank = Math.max(ownRank(operand.axes), ownRank(place.axes));
  return arranged(operand, [...place.axes.filter((axis) => !isOwn(axis)), ...ownAxes(rank)]);
}
