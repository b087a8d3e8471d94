import type { SyntaxNode } from '../../python-source.ts';
import { type Affine, atom, minus, plus } from './arithmetic.ts';
import { evaluated, materialised } from './expressions.ts';
import type { Rounds } from './rounds.ts';
import { calledIn, givenTo, itemsOf } from './syntax.ts';
import { isOwn, type Operand, ownAxes, Refusal, single, type Value } from './values.ts';

/** A loop that is about to be opened. */
interface Header {
  label: string;
  names: readonly string[];
  changes: ReadonlySet<string>;
}

/**
 * Opens a loop over a range, over numbers that are written out, or over arrays. Refuses steps that count down, and
 * whatever else is gone through.
 *
 * @returns which of its rounds there are, where that depends on the loops around; null for all
 */
export function open(
  rounds: Rounds,
  { names, changes }: Pick<Header, 'names' | 'changes'>,
  iterated: SyntaxNode,
): Operand | null {
  const [name] = names;
  if (name === undefined) throw new Refusal('a loop without a number');
  const header = { label: `${name}@${rounds.nextNumber()}`, names, changes };
  const callee = calledIn(rounds.source, iterated);
  const list = givenTo(iterated);
  if (callee === 'range' && names.length === 1 && list.length > 0 && list.length < 4)
    return openRange(rounds, header, list);
  const [only] = list;
  if (callee === 'enumerate' && names.length === 2 && list.length === 1 && only !== undefined) {
    const items = names.slice(1);
    if (!openNumbers(rounds, { ...header, names: items }, only, false))
      openArrays(rounds, header, [only], items);
    setNumber(rounds, header);
  } else if (!openNumbers(rounds, header, iterated)) {
    openArrays(rounds, header, callee === 'zip' ? list : [iterated], names);
  }
  return null;
}

function setNumber(rounds: Rounds, { label }: Header): void {
  const affine = { terms: new Map([[label, '1']]), constant: '0' };
  rounds.set(label.replace(/@.*$/, ''), { factors: [], affine });
}

function openRange(rounds: Rounds, header: Header, list: readonly SyntaxNode[]): Operand | null {
  const { label, changes } = header;
  const bounds = list.map((bound) => boundOf(rounds, bound));
  const nought = { terms: new Map(), constant: '0' };
  const [first, end, by] = bounds.length === 1 ? [nought, bounds[0]] : bounds;
  const step = by === undefined ? '1' : by.constant;
  if (first === undefined || end === undefined || (by?.terms.size ?? 0) > 0 || mayCountDown(rounds, step))
    throw new Refusal('a loop that counts down');
  const isChanging = first.terms.size + end.terms.size > 0;
  if (isChanging && step !== '1') throw new Refusal('a loop of changing length');
  const [least, most] = [outermost(rounds, first, 'least'), outermost(rounds, end, 'most')];
  rounds.loops.push({ label, first: least, end: most, step, changes });
  setNumber(rounds, header);
  if (!isChanging) return null;
  const here = materialised(
    { factors: [], affine: { terms: new Map([[label, '1']]), constant: '0' } },
    rounds,
  );
  const sides = [
    { bound: first, sign: '>=' },
    { bound: end, sign: '<' },
  ].filter(({ bound }) => bound.terms.size > 0);
  const [mask, other] = sides.map(({ bound, sign }) => {
    const operands = [here, materialised({ factors: [], affine: bound }, rounds)];
    return rounds.each(operands, ([one, two]) => `${atom(one ?? '')} ${sign} ${atom(two ?? '')}`);
  });
  if (mask === undefined || other === undefined) return mask ?? null;
  return rounds.each([mask, other], (codes) => `${rounds.np}.logical_and(${codes.join(', ')})`);
}

/** The least or the greatest that a bound is in any round of the loops around. */
function outermost(rounds: Rounds, { terms, constant }: Affine, which: 'least' | 'most'): string {
  return [...terms].reduce((sum, [label, factor]) => {
    const loop = rounds.loops.find((each) => each.label === label);
    if (loop === undefined || loop.step !== '1' || !/^-?1$/.test(factor))
      throw new Refusal('a loop of changing length');
    if ((which === 'least') === (factor === '1'))
      return factor === '1' ? plus(sum, loop.first) : minus(sum, loop.first);
    const last = minus(loop.end, '1');
    return factor === '1' ? plus(sum, last) : minus(sum, last);
  }, constant);
}

/** `(-1, 0, 1)` and `[(0, 1), (1, 0)]`; false for anything but numbers. */
function openNumbers(rounds: Rounds, header: Header, iterated: SyntaxNode, mayCount = true): boolean {
  const { label, names, changes } = header;
  const rows = listed(iterated)?.map((item) => (names.length === 1 ? [item] : listed(item)));
  const texts = rows?.map((row) => row?.map((item) => rounds.text(item).replace(/\s/g, '')) ?? []) ?? [];
  const isNumber = (text: string) => /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text);
  if (texts.length === 0 || !texts.every((row) => row.length === names.length && row.every(isNumber)))
    return false;
  const step = stepOf(texts.map(([text = '']) => text));
  if (names.length === 1 && step > 0 && mayCount) {
    const [[first = ''] = []] = texts;
    const end = String(Number(first) + step * texts.length);
    rounds.loops.push({ label, first, end, step: String(step), changes });
    setNumber(rounds, header);
    return true;
  }
  rounds.loops.push({ label, first: '0', end: String(texts.length), step: '1', changes });
  for (const [place, name] of names.entries()) {
    const code = `${rounds.np}.array([${texts.map((row) => row[place]).join(', ')}])`;
    rounds.set(name, single({ code, axes: [label] }));
  }
  return true;
}

function listed(node: SyntaxNode): SyntaxNode[] | null {
  return /^(?:Tuple|Array)Expression$/.test(node.name) ? itemsOf(node) : null;
}

/** By how much whole numbers grow from each to the next; 0 where that is not always the same. */
function stepOf(texts: readonly string[]): number {
  const numbers = texts.map(Number);
  const step = (numbers[1] ?? 0) - (numbers[0] ?? 0);
  const isEven = numbers.every((each, place) => each === (numbers[0] ?? 0) + step * place);
  return isEven && step > 0 && texts.every((text) => /^-?\d+$/.test(text)) ? step : 0;
}

function openArrays(
  rounds: Rounds,
  { label, changes }: Header,
  sources: readonly SyntaxNode[],
  items: readonly string[],
): void {
  const isApart = sources.length === 1 && items.length > 1;
  if (
    (items.length !== sources.length && !isApart) ||
    sources.some((source) => source.name !== 'VariableName')
  )
    throw new Refusal('a loop over what is no array');
  const arrays = sources.map((source) => rounds.text(source));
  const [only] = arrays;
  const changing = arrays.length === 1 && only !== undefined ? rounds.read(only) : null;
  if (changing !== null) {
    openRow(rounds, { label, changes, names: items }, changing);
    return;
  }
  for (const array of arrays) {
    rounds.checkRead(array, null);
    if (rounds.isOf('other', array)) throw new Refusal('what is no array');
    if (rounds.read(array) !== null) throw new Refusal('a loop over what changes');
  }
  rounds.loops.push({ label, first: '0', end: `len(${arrays[0]})`, step: '1', changes });
  if (isApart) {
    const rank = rounds.ranks.get(only ?? '') ?? 2;
    if (rank < 2) throw new Refusal('numbers taken apart');
    for (const [place, item] of items.entries()) {
      const code = `${rounds.np}.asarray(${only})[:, ${place}]`;
      rounds.set(item, single({ code, axes: [label, ...ownAxes(rank - 2)] }));
    }
    return;
  }
  for (const [place, array] of arrays.entries()) {
    const rank = rounds.ranks.get(array) ?? null;
    const axes = [label, ...ownAxes(Math.max(0, (rank ?? 1) - 1))];
    rounds.set(items[place] ?? '', single({ code: `${rounds.np}.asarray(${array})`, axes }));
  }
}

/** A loop over what each round around sees, as a row of an array. */
function openRow(rounds: Rounds, { label, changes, names }: Header, value: Value): void {
  const { code, axes, isLoose } = materialised(rounds.settled('row', value), rounds);
  const place = axes.findIndex(isOwn);
  if (place < 0 || isLoose === true) throw new Refusal('a loop over what changes');
  rounds.loops.push({ label, first: '0', end: `${atom(code)}.shape[${place}]`, step: '1', changes });
  rounds.set(names[0] ?? '', single({ code, axes: axes.map((axis, at) => (at === place ? label : axis)) }));
}

/** A step that is below nought, or has a name that the script makes so. */
function mayCountDown({ source }: Rounds, step: string): boolean {
  if (/^\d+$/.test(step)) return false;
  return !/^\w+$/.test(step) || new RegExp(`\\b${step}\\s*=\\s*-`).test(source);
}

function boundOf(rounds: Rounds, node: SyntaxNode): Affine {
  const { affine } = evaluated(node, rounds);
  if (affine === null) throw new Refusal('a loop of changing length');
  return affine;
}
