import type { Value } from './values.ts';

/** Python's whole numbers grow as long as memory lasts, and may become fractions; those of numpy do neither. */
export function mayOutgrow(base: Value, exponent: Value): boolean {
  const isFraction = /\d\.|\be/.test(base.affine?.constant ?? '');
  if (base.affine === null || (isFraction && base.affine.terms.size === 0)) return false;
  if ((exponent.affine?.terms.size ?? 0) > 0) return true;
  return base.affine.terms.size > 0 && !/^(?:[0-3]|\d+\.\d*)$/.test(exponent.affine?.constant ?? '');
}

/** Powers of or with whole numbers that are written out, which are numbers of Python. */
export function isOfNumbers(base: Value, exponent: Value, np: string): boolean {
  const isWritten = ({ factors }: Value) => factors.some(({ code }) => code.includes(`${np}.array([`));
  if (isWritten(base)) return !/^[0-3]$/.test(exponent.affine?.constant ?? '');
  return isWritten(exponent) && base.affine !== null;
}
