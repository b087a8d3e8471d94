/** Sums and products that are Python code, and linear functions of the numbers of loops. */

/** `constant` plus the numbers of loops times factors, all of them Python that is the same in every round. */
export interface Affine {
  terms: ReadonlyMap<string, string>;
  constant: string;
}

/** Python in brackets, where it is more than a name, a number, or calls and subscripts of one. */
export function atom(code: string): string {
  let depth = 0;
  for (const [place, character] of [...code].entries()) {
    if (/[([]/.test(character)) depth += 1;
    if (
      depth === 0 &&
      (!/[\w.]/.test(character) || (place > 0 && /[)\]]/.test(code[place - 1] ?? '') && character !== '.'))
    )
      return `(${code})`;
    if (/[)\]]/.test(character)) depth -= 1;
  }
  return code;
}

export function plus(left: string, right: string): string {
  if (left === '0') return right;
  if (right === '0') return left;
  return /^-?\d+$/.test(left) && /^-?\d+$/.test(right)
    ? String(Number(left) + Number(right))
    : `${left} + ${atom(right)}`;
}

export function minus(left: string, right: string): string {
  if (right === '0') return left;
  if (left === right) return '0';
  if (left.startsWith(`${right} + `)) return left.slice(right.length + 3);
  if (/^-?\d+$/.test(left) && /^-?\d+$/.test(right)) return String(Number(left) - Number(right));
  return left === '0' ? `-${atom(right)}` : `${left} - ${atom(right)}`;
}

export function times(left: string, right: string): string {
  if (left === '0' || right === '0') return '0';
  if (left === '1') return right;
  return right === '1' ? left : `${atom(left)} * ${atom(right)}`;
}

export const comparisons = /^(?:<|>|<=|>=|==|!=)$/;

/** What an operator makes of two linear functions; null where that is no linear function. */
export function affineOf(left: Affine | null, operator: string, right: Affine | null): Affine | null {
  if (left === null || right === null) return null;
  if (operator === '+' || operator === '-') return combined(left, right, operator);
  if (operator === '*') {
    const [factor, other] = left.terms.size === 0 ? [left, right] : [right, left];
    if (factor.terms.size > 0) return null;
    const terms = new Map(
      [...other.terms].map(([label, each]) => [label, times(each, factor.constant)] as const),
    );
    return { terms, constant: times(other.constant, factor.constant) };
  }
  if (left.terms.size + right.terms.size > 0 || comparisons.test(operator)) return null;
  return { terms: new Map(), constant: `${atom(left.constant)} ${operator} ${atom(right.constant)}` };
}

/** The sum or the difference of two linear functions. */
export function combined(left: Affine, right: Affine, sign: '+' | '-'): Affine {
  const join = sign === '+' ? plus : minus;
  const terms = new Map(left.terms);
  for (const [label, factor] of right.terms) terms.set(label, join(terms.get(label) ?? '0', factor));
  return {
    terms: new Map([...terms].filter(([, factor]) => factor !== '0')),
    constant: join(left.constant, right.constant),
  };
}
