import type { Measurement } from './benchmark.ts';

/** The same thing for both. */
export interface Pair<Value> {
  ours: Value;
  theirs: Value;
}

/** @param maxTimes the limit of ours as a multiple of theirs; null: no limit */
export function sideBySide(
  { what, unit }: Pick<Measurement, 'what' | 'unit'>,
  { ours, theirs }: Pair<number>,
  maxTimes: number | null,
  notes: Pair<string> = { ours: '', theirs: '' },
): Measurement[] {
  const ratio = `${(ours / theirs).toPrecision(2)} times Inspect AI's`;
  const note = notes.ours === '' ? ratio : `${ratio}; ${notes.ours}`;
  return [
    { what, unit, value: ours, atMost: maxTimes === null ? null : maxTimes * theirs, note },
    { what: 'Inspect AI', unit, value: theirs, atMost: null, note: notes.theirs },
  ];
}
