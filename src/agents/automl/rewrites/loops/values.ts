import { type Affine, atom, minus } from './arithmetic.ts';

/** Why a loop is left as it is; thrown inside this folder only, and caught where a loop is taken up. */
export class Refusal extends Error {}

/** A loop over a range of numbers. Its label names an axis of every array that has a value for each of its rounds. */
export interface Loop {
  label: string;
  /** Python for the first number, the end and the step. */
  first: string;
  end: string;
  step: string;
  /** Names that its body gives values to. */
  changes: ReadonlySet<string>;
}

/**
 * An array expression. Its axes are labels of loops, or places of an axis of what one round sees, counted from the last
 * as in broadcasting: `#1`, `#2`.
 */
export interface Operand {
  code: string;
  axes: readonly string[];
  /** The number of axes is not known: it goes into no einsum. */
  isLoose?: boolean;
}

/** What an expression of a loop's body comes to in all rounds at once: a product of arrays. */
export interface Value {
  factors: readonly Operand[];
  /** Where it is a linear function of loop numbers, as subscripts are. */
  affine: Affine | null;
}

export function scalar(code: string): Value {
  return { factors: [{ code, axes: [] }], affine: { terms: new Map(), constant: code } };
}

export function single(operand: Operand): Value {
  return { factors: [operand], affine: null };
}

/** What the script calls a loop's number. */
export function nameOfLoop(loop: Loop): string {
  return loop.label.replace(/@.*$/, '');
}

/** How many rounds a loop has. */
export function countOf(loop: Loop): string {
  if (loop.step !== '1') return `len(range(${loop.first}, ${loop.end}, ${loop.step}))`;
  return minus(loop.end, loop.first);
}

export function isOwn(axis: string): boolean {
  return axis.startsWith('#');
}

/** How many axes one round sees. */
export function ownRank(axes: readonly string[]): number {
  return Math.max(0, ...axes.filter(isOwn).map((axis) => Number(axis.slice(1))));
}

export function ownAxes(rank: number): string[] {
  return Array.from({ length: rank }, (_, place) => `#${rank - place}`);
}

/** An operand whose axes come in this order, with an axis of length one for each that it lacks, but for leading ones. */
export function arranged(operand: Operand, axes: readonly string[]): string {
  const present = axes.filter((axis) => operand.axes.includes(axis));
  if (present.length !== operand.axes.length) throw new Refusal('an axis has no place');
  const order = present.map((axis) => operand.axes.indexOf(axis));
  const isSorted = order.every((place, index) => place === index);
  const turned = isSorted ? operand.code : `${atom(operand.code)}.transpose(${order.join(', ')})`;
  const wanted = axes.slice(axes.findIndex((axis) => present.includes(axis)));
  if (present.length === 0 || wanted.length === present.length) return turned;
  const lastGap = wanted.findLastIndex((axis) => !present.includes(axis));
  const subscript = wanted.slice(0, lastGap + 1).map((axis) => (present.includes(axis) ? ':' : 'None'));
  return `${atom(turned)}[${subscript.join(', ')}]`;
}

/** The axes of all operands together: loops from the outermost, then what one round sees. */
export function jointAxes(operands: readonly Operand[], loops: readonly string[]): string[] {
  const rank = Math.max(0, ...operands.map(({ axes }) => ownRank(axes)));
  return [...loops.filter((label) => operands.some(({ axes }) => axes.includes(label))), ...ownAxes(rank)];
}

/** An expression of operands, element by element. */
export function elementwise(
  operands: readonly Operand[],
  loops: readonly string[],
  write: (codes: string[]) => string,
): Operand {
  const axes = jointAxes(operands, loops);
  const code = write(operands.map((operand) => arranged(operand, axes)));
  return { code, axes, isLoose: operands.some(({ isLoose }) => isLoose === true) };
}

/** The product as one array. */
export function asOperand(value: Value, loops: readonly string[]): Operand {
  const [first, ...rest] = value.factors;
  if (first === undefined) return { code: '1', axes: [] };
  if (rest.length === 0) return first;
  return elementwise(value.factors, loops, (codes) => codes.map(atom).join(' * '));
}

/** The sum over some axes; a product of arrays with known axes is summed by einsum, hence by matrix products. */
export function summed(value: Value, over: readonly string[], loops: readonly string[], np: string): Operand {
  if (over.length === 0) return asOperand(value, loops);
  const isLoose = value.factors.some((factor) => factor.isLoose === true);
  const arrays = value.factors.filter(({ axes }) => axes.length > 0);
  if (arrays.length < 2 || (isLoose && over.some(isOwn)) || arrays.some((array) => array.isLoose === true)) {
    return reduced(asOperand(value, loops), over, `${np}.sum`);
  }
  const all = [...new Set(arrays.flatMap(({ axes }) => axes))];
  if (over.some((axis) => !all.includes(axis)) || all.length > 26) throw new Refusal('nothing to sum up');
  const letters = (axes: readonly string[]) =>
    axes.map((axis) => String.fromCharCode(97 + all.indexOf(axis))).join('');
  const axes = jointAxes(arrays, loops).filter((axis) => all.includes(axis) && !over.includes(axis));
  const inputs = arrays.map((array) => letters(array.axes)).join(',');
  const codes = arrays.map(({ code }) => code).join(', ');
  const sum = `${np}.einsum("${inputs}->${letters(axes)}", ${codes}, optimize=True)`;
  const scalars = value.factors.filter((factor) => factor.axes.length === 0).map(({ code }) => atom(code));
  return { code: [...scalars, sum].join(' * '), axes };
}

/** A call such as `np.max` over some axes. */
export function reduced(operand: Operand, over: readonly string[], callee: string): Operand {
  const places = over.map((axis) => operand.axes.indexOf(axis)).sort((left, right) => left - right);
  if (places.includes(-1)) throw new Refusal('nothing to sum up');
  const axis = places.length === 1 ? String(places[0]) : `(${places.join(', ')})`;
  const axes = operand.axes.filter((each) => !over.includes(each));
  const code =
    axes.length === 0 && callee.includes('arg') === false
      ? `${callee}(${operand.code})`
      : `${callee}(${operand.code}, axis=${axis})`;
  return { code, axes };
}
