import type { SyntaxNode } from '../../python-source.ts';
import { evaluated } from './expressions.ts';
import type { Rounds } from './rounds.ts';
import { calledIn, givenTo } from './syntax.ts';
import { ownAxes, Refusal, single } from './values.ts';

export function open(rounds: Rounds, targets: SyntaxNode[], iterated: SyntaxNode): void {
  const names = targets.map((target) => rounds.text(target));
  const [name] = names;
  const callee = calledIn(rounds.source, iterated);
  const list = givenTo(iterated);
  if (name === undefined) throw new Refusal('a loop without a number');
  const label = `${name}@${rounds.nextNumber()}`;
  if (callee === 'range' && names.length === 1 && list.length > 0 && list.length < 4) {
    const bounds = list.map((bound) => boundOf(rounds, bound));
    const [first, end, step] =
      bounds.length === 1 ? ['0', bounds[0], '1'] : [bounds[0], bounds[1], bounds[2] ?? '1'];
    if (first === undefined || end === undefined || step === undefined || step.startsWith('-'))
      throw new Refusal('a loop that counts down');
    rounds.loops.push({ label, first, end, step });
    rounds.set(name, { factors: [], affine: { terms: new Map([[label, '1']]), constant: '0' } });
    return;
  }
  const sources = callee === 'enumerate' || callee === 'zip' ? list : [iterated];
  const items = callee === 'enumerate' ? names.slice(1) : names;
  if (callee === 'enumerate' && (sources.length !== 1 || names.length !== 2))
    throw new Refusal('a list of pairs');
  if (items.length !== sources.length || sources.some((source) => source.name !== 'VariableName'))
    throw new Refusal('a loop over what is no array');
  const arrays = sources.map((source) => rounds.text(source));
  for (const array of arrays) {
    rounds.checkRead(array, null);
    if (rounds.read(array) !== null) throw new Refusal('a loop over what changes');
  }
  rounds.loops.push({ label, first: '0', end: `len(${arrays[0]})`, step: '1' });
  if (callee === 'enumerate')
    rounds.set(name, { factors: [], affine: { terms: new Map([[label, '1']]), constant: '0' } });
  for (const [place, array] of arrays.entries()) {
    const rank = rounds.ranks.get(array) ?? null;
    const axes = [label, ...ownAxes(Math.max(0, (rank ?? 1) - 1))];
    rounds.set(items[place] ?? '', single({ code: `${rounds.np}.asarray(${array})`, axes }));
  }
}

export function boundOf(rounds: Rounds, node: SyntaxNode): string {
  const { affine } = evaluated(node, rounds);
  if (affine === null || affine.terms.size > 0) throw new Refusal('a loop of changing length');
  return affine.constant;
}
