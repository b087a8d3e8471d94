import { type Affine, atom, minus, plus, times } from './arithmetic.ts';
import { arranged, countOf, isOwn, jointAxes, type Loop, type Operand, ownAxes, Refusal } from './values.ts';

/** One part of a subscript. */
export type Part =
  /** A linear function of loop numbers, or one number. */
  | { kind: 'number'; affine: Affine }
  /** `a:b`, both linear with the same factors; null for an open end. */
  | { kind: 'slice'; first: Affine | null; end: Affine | null }
  /** Any other array of numbers. */
  | { kind: 'gather'; operand: Operand }
  | { kind: 'rest' };

/** Cuts a part of an axis, for an array that has one entry for each round of a loop. */
function stretch(loop: Loop, factor: string, constant: string): string {
  const start = plus(times(loop.first, factor), constant);
  const step = times(factor, loop.step);
  if (start.startsWith('-')) throw new Refusal('a stretch that starts at the end');
  if (step === '1') return `${start === '0' ? '' : start}:${plus(loop.end, constant)}`;
  const reach = plus(times(minus(countOf(loop), '1'), step), '1');
  return `${start === '0' ? '' : start}:${plus(start, reach)}:${step}`;
}

/** Python of the subscript without the last parts that take everything. */
function subscripted(code: string, parts: readonly string[]): string {
  const used = parts.slice(0, parts.findLastIndex((part) => part !== ':') + 1);
  return used.length === 0 ? code : `${code}[${used.join(', ')}]`;
}

/** `a[i, 2 * j + k, :3]` in all rounds at once. */
export function subscript(
  code: string,
  parts: readonly Part[],
  rank: number | null,
  loops: readonly Loop[],
  np: string,
): Operand {
  const given = parts.filter(({ kind }) => kind !== 'rest').length;
  if (parts.some(({ kind }) => kind === 'rest') && rank === null)
    throw new Refusal('an array of unknown axes');
  const axesInAll = Math.max(rank ?? given, given);
  const all = parts.flatMap((part): Part[] =>
    part.kind === 'rest' ? Array.from({ length: axesInAll - given }, () => everything) : [part],
  );
  while (all.length < axesInAll) all.push(everything);
  const labels = all.flatMap((part) => (part.kind === 'number' ? [...part.affine.terms.keys()] : []));
  const isTwice = new Set(labels).size < labels.length;
  if (isTwice || all.some((part) => part.kind === 'gather' || isTurned(part) || isBelowNought(part, loops)))
    return gathered(code, all, loops, np);
  return cut(code, all, loops, np);
}

/**
 * `row[k]` of what each round sees: its first axes get a subscript each, a number or one that runs with a loop. `isGuarded`:
 * only some rounds may read it.
 */
export function partOfRow(
  { code, axes, isLoose }: Operand,
  parts: readonly Part[],
  loops: readonly Loop[],
  isGuarded: boolean,
): Operand {
  const own = axes.filter(isOwn).toSorted((left, right) => Number(right.slice(1)) - Number(left.slice(1)));
  if (isLoose === true || parts.length > own.length) throw new Refusal('a part of what changes');
  const slices = axes.map(() => ':');
  const left: (string | null)[] = [...axes];
  for (const [index, part] of parts.entries()) {
    const place = axes.indexOf(own[index] ?? '');
    const labels = part.kind === 'number' ? [...part.affine.terms.keys()] : [];
    const [label] = labels;
    if (part.kind !== 'number' || labels.length > 1 || (label !== undefined && left.includes(label)))
      throw new Refusal('a part of what changes');
    const { constant, terms } = part.affine;
    if (isTurned(part) || isBelowNought(part, loops) || (isGuarded && constant !== '0'))
      throw new Refusal('a part of what changes that may lie outside');
    slices[place] =
      label === undefined ? constant : stretch(loopOf(label, loops), terms.get(label) ?? '1', constant);
    left[place] = label ?? null;
  }
  return { code: subscripted(atom(code), slices), axes: left.filter((axis) => axis !== null) };
}

const everything: Part = { kind: 'slice', first: null, end: null };

/** Counting down: no slice can be counted on to be right. */
function isTurned(part: Part): boolean {
  return part.kind === 'number' && [...part.affine.terms.values()].some((factor) => factor.startsWith('-'));
}

/** Counted from the end by some rounds alone, as `a[i - 1]` where `i` starts from 0. */
function isBelowNought(part: Part, loops: readonly Loop[]): boolean {
  if (part.kind !== 'number' || part.affine.terms.size === 0) return false;
  const least = loops.reduce(
    (sum, { label, first }) => plus(sum, times(first, part.affine.terms.get(label) ?? '0')),
    part.affine.constant,
  );
  return least.startsWith('-');
}

/** By slices and sliding windows: views, nothing is copied. */
function cut(code: string, parts: readonly Part[], loops: readonly Loop[], np: string): Operand {
  let own = parts.filter(({ kind }) => kind === 'slice').length;
  const windows: { place: number; length: string; axis: string; step: string }[] = [];
  const slices: string[] = [];
  const axes: string[] = [];
  for (const [place, part] of parts.entries()) {
    if (part.kind === 'slice') {
      const axis = `#${own}`;
      own -= 1;
      const [label, ...more] = part.first?.terms.keys() ?? part.end?.terms.keys() ?? [];
      if (label === undefined) {
        const end = part.end?.constant ?? '';
        slices.push(`${part.first?.constant === '0' ? '' : (part.first?.constant ?? '')}:${end}`);
        axes.push(axis);
        continue;
      }
      if (part.first === null || part.end === null || more.length > 0 || !isParallel(part.first, part.end))
        throw new Refusal('a window of changing length');
      windows.push({ place, length: minus(part.end.constant, part.first.constant), axis, step: '1' });
      slices.push(stretch(loopOf(label, loops), part.first.terms.get(label) ?? '1', part.first.constant));
      axes.push(label);
    } else if (part.kind === 'number') {
      const [outer, inner, ...more] = loops.filter(({ label }) => part.affine.terms.has(label));
      if (more.length > 0) throw new Refusal('a subscript of three loops');
      if (outer === undefined) {
        slices.push(part.affine.constant);
        continue;
      }
      let constant = part.affine.constant;
      if (inner !== undefined) {
        const factor = part.affine.terms.get(inner.label) ?? '1';
        const step = times(factor, inner.step);
        constant = plus(constant, times(inner.first, factor));
        windows.push({
          place,
          length: plus(times(minus(countOf(inner), '1'), step), '1').replace(/^(.*) - 1 \+ 1$/, '$1'),
          axis: inner.label,
          step,
        });
      }
      slices.push(stretch(outer, part.affine.terms.get(outer.label) ?? '1', constant));
      axes.push(outer.label);
    }
  }
  // The positions of a window end where its last one does, so the end of the stretch over them can be left open.
  if (windows.length === 0) return { code: subscripted(code, slices), axes };
  const lengths = tuple(windows.map(({ length }) => length));
  const places = tuple(windows.map(({ place }) => String(place)));
  const view = `${np}.lib.stride_tricks.sliding_window_view(${code}, ${lengths}, axis=${places})`;
  const inside = windows.map(({ step }) => (step === '1' ? ':' : `::${step}`));
  return {
    code: subscripted(view, [...slices, ...inside]),
    axes: [...axes, ...windows.map(({ axis }) => axis)],
  };
}

function tuple(codes: readonly string[]): string {
  return codes.length === 1 ? (codes[0] ?? '') : `(${codes.join(', ')})`;
}

function isParallel(left: Affine, right: Affine): boolean {
  return (
    left.terms.size === right.terms.size &&
    [...left.terms].every(([label, factor]) => right.terms.get(label) === factor)
  );
}

function loopOf(label: string, loops: readonly Loop[]): Loop {
  const loop = loops.find((each) => each.label === label);
  if (loop === undefined) throw new Refusal('the number of a loop that is over');
  return loop;
}

/** By arrays of numbers, one for each axis: a copy, but of any shape. */
function gathered(code: string, parts: readonly Part[], loops: readonly Loop[], np: string): Operand {
  const last = parts.findLastIndex(({ kind }) => kind !== 'slice');
  const used = parts.slice(0, last + 1).map((part) => {
    if (part.kind === 'gather') return part.operand;
    if (part.kind === 'number') return numbersOf(part.affine, loops, np);
    throw new Refusal('slices among arrays of numbers');
  });
  const slices = parts.slice(last + 1).map((part) => {
    const [first, end] = part.kind === 'slice' ? [part.first, part.end] : [];
    if ((first?.terms.size ?? 0) + (end?.terms.size ?? 0) > 0) throw new Refusal('slices of changing place');
    return `${first?.constant ?? ''}:${end?.constant ?? ''}`;
  });
  const axes = jointAxes(
    used,
    loops.map(({ label }) => label),
  );
  if (axes.some((axis) => axis.startsWith('#'))) throw new Refusal('lists of subscripts');
  const rest = ownAxes(parts.length - last - 1);
  const lists = used.map((operand) => arranged(operand, axes));
  return { code: subscripted(code, [...lists, ...slices]), axes: [...axes, ...rest] };
}

/** The values of a linear function in all rounds. */
export function numbersOf(affine: Affine, loops: readonly Loop[], np: string): Operand {
  const labels = loops.map(({ label }) => label).filter((label) => affine.terms.has(label));
  if (labels.length < affine.terms.size) throw new Refusal('the number of a loop that is over');
  const terms = labels.map((label) => {
    const { first, end, step } = loopOf(label, loops);
    const bounds = step !== '1' ? `${first}, ${end}, ${step}` : first === '0' ? end : `${first}, ${end}`;
    const code = arranged({ code: `${np}.arange(${bounds})`, axes: [label] }, labels);
    return times(code, affine.terms.get(label) ?? '1');
  });
  const code = [...terms, affine.constant].reduce((left, right) => plus(left, right), '0');
  return { code, axes: labels };
}

/** Places outside of an array moved to its border: a condition leaves out the rounds that read them. */
export function keptInside(
  part: Part,
  place: number,
  code: string,
  { loops, np }: { loops: readonly Loop[]; np: string },
): Part {
  if (part.kind === 'slice' || part.kind === 'rest') return part;
  if (part.kind === 'number' && part.affine.terms.size < 2 && part.affine.constant === '0') return part;
  if (part.kind === 'number' && part.affine.terms.size === 0) {
    const { constant, terms } = part.affine;
    if (/^\w+$/.test(constant)) return part;
    const inside = `min(max(${constant}, -${code}.shape[${place}]), ${code}.shape[${place}] - 1)`;
    return { kind: 'number', affine: { terms, constant: inside } };
  }
  // A remainder is inside anyway.
  if (part.kind === 'gather' && / % [\w.]+$/.test(part.operand.code)) return part;
  const operand = part.kind === 'number' ? numbersOf(part.affine, loops, np) : part.operand;
  const length = `${code}.shape[${place}]`;
  return {
    kind: 'gather',
    operand: { ...operand, code: `${np}.clip(${operand.code}, -${length}, ${length} - 1)` },
  };
}
