import type { TaskBrief } from '../../schema/index.ts';
import { isTimeLike } from '../search/metric-names.ts';
import { findKnobs, type Knob } from './knobs.ts';
import { maxEpochs } from './most-epochs.ts';
import { isSplittingCall } from './places.ts';
import { calleeName, nodesOf, parsePython, splice, textOf } from './python-source.ts';
import { literalOf } from './scales.ts';

/** The numbers of a script that a task allows to change. */
export function tunableKnobs(source: string, { metric, problem }: TaskBrief): Knob[] {
  // The 3 of a top-3 accuracy decides what is measured.
  const guesses = Number(/(?:top[-\s]*|@\s*)(\d+)/i.exec(metric.name)?.[1]);
  const knobs = findKnobs(source).filter(
    ({ name, value }) => value !== guesses || !/k$|top|guess|cut/i.test(name),
  );
  // A number that changes what is computed also changes how long it takes: that would be less work, not faster work.
  if (isTimeLike(metric)) return knobs.filter(({ name }) => /chunk|block|tile|buffer/i.test(name));
  const epochs = maxEpochs(problem);
  if (epochs === null) return knobs;
  return knobs.map((knob) => {
    if (!/epoch/i.test(knob.name)) return knob;
    return { ...knob, prior: { ...knob.prior, most: Math.max(knob.value, epochs) } };
  });
}

/** A script with these values in place of its numbers. */
export function withValues(source: string, knobs: readonly Knob[], values: readonly number[]): string {
  return splice(
    source,
    knobs.map((knob, place) => ({ ...knob, text: literalOf(knob, values[place] ?? knob.value) })),
  );
}

/** `name: old → new (line n)`, for every number that differs. */
export function changesBetween(
  knobs: readonly Knob[],
  from: readonly number[],
  to: readonly number[],
): string[] {
  return knobs.flatMap((knob, place) => {
    const [before, after] = [from[place] ?? knob.value, to[place] ?? knob.value];
    if (before === after) return [];
    return [`${knob.name}: ${literalOf(knob, before)} → ${literalOf(knob, after)} (line ${knob.line})`];
  });
}

/**
 * Whether a seed decides how data is split. Then two seeds differ in their data too, and the difference of their scores
 * says little about how exactly two versions can be compared on the same data.
 */
export function seedsSplitData(source: string): boolean {
  return nodesOf(parsePython(source), 'CallExpression').some(
    (call) =>
      isSplittingCall(calleeName(source, call)) &&
      /seed|random_state|rng|generator/i.test(textOf(source, call)),
  );
}
