import type { SyntaxNode } from '../../python-source.ts';
import { evaluated } from './expressions.ts';
import { assignedIn } from './nest.ts';
import type { Rounds } from './rounds.ts';
import { calledIn, givenTo, targetsOf } from './syntax.ts';
import { ownAxes, Refusal, single } from './values.ts';

/** Opens a loop over a range or over arrays. Refuses steps that count down, and whatever else is gone through. */
export function open(rounds: Rounds, node: SyntaxNode, iterated: SyntaxNode): void {
  const names = targetsOf(node).map((target) => rounds.text(target));
  const [name] = names;
  const callee = calledIn(rounds.source, iterated);
  const list = givenTo(iterated);
  if (name === undefined) throw new Refusal('a loop without a number');
  const changes = assignedIn(node, rounds.source);
  const label = `${name}@${rounds.nextNumber()}`;
  if (callee === 'range' && names.length === 1 && list.length > 0 && list.length < 4) {
    const bounds = list.map((bound) => boundOf(rounds, bound));
    const [first, end, step] =
      bounds.length === 1 ? ['0', bounds[0], '1'] : [bounds[0], bounds[1], bounds[2] ?? '1'];
    if (first === undefined || end === undefined || step === undefined || mayCountDown(rounds, step))
      throw new Refusal('a loop that counts down');
    rounds.loops.push({ label, first, end, step, changes });
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
    if (rounds.isOf('other', array)) throw new Refusal('what is no array');
    if (rounds.read(array) !== null) throw new Refusal('a loop over what changes');
  }
  rounds.loops.push({ label, first: '0', end: `len(${arrays[0]})`, step: '1', changes });
  if (callee === 'enumerate')
    rounds.set(name, { factors: [], affine: { terms: new Map([[label, '1']]), constant: '0' } });
  for (const [place, array] of arrays.entries()) {
    const rank = rounds.ranks.get(array) ?? null;
    const axes = [label, ...ownAxes(Math.max(0, (rank ?? 1) - 1))];
    rounds.set(items[place] ?? '', single({ code: `${rounds.np}.asarray(${array})`, axes }));
  }
}

/** A step that is below nought, or has a name that the script makes so. */
function mayCountDown({ source }: Rounds, step: string): boolean {
  if (/^\d+$/.test(step)) return false;
  return !/^\w+$/.test(step) || new RegExp(`\\b${step}\\s*=\\s*-`).test(source);
}

function boundOf(rounds: Rounds, node: SyntaxNode): string {
  const { affine } = evaluated(node, rounds);
  if (affine === null || affine.terms.size > 0) throw new Refusal('a loop of changing length');
  return affine.constant;
}
