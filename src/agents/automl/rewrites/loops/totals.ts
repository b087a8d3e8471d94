import { atom } from './arithmetic.ts';
import { materialised } from './expressions.ts';
import { isNought, type Rounds } from './rounds.ts';
import { type Operand, Refusal, single, type Value } from './values.ts';

/** `total += value`. */
export function gather(
  rounds: Rounds,
  name: string,
  operator: string,
  value: Value,
  mask: Operand | null,
): void {
  if (operator !== '+=' && operator !== '-=') throw new Refusal('a product over rounds');
  if (rounds.isOf('list', name) || rounds.isOf('other', name)) throw new Refusal('no number');
  const variable = rounds.gathering(name);
  const over = rounds.openedSince(variable);
  if (variable.isExtreme === true) throw new Refusal('an extreme that is added to');
  const masked = rounds.masked(value, mask);
  const share = rounds.summedOver(masked, over);
  const before = materialised(variable.value, rounds);
  const sign = operator === '+=' ? '+' : '-';
  const isFirst = isNought(before.code) && sign === '+';
  const total = isFirst
    ? share
    : rounds.each([before, share], ([one, two]) => `${one} ${sign} ${atom(two ?? '')}`);
  const startsHere = variable.gatheredOver.length === 0 && over.length === 1 && sign === '+';
  const running = startsHere ? { before, share: masked } : null;
  rounds.variables.set(name, { ...variable, value: single(total), gatheredOver: over, running });
}
