import type { Lesson } from '../../schema/index.ts';
import type { Knob } from './knobs.ts';
import { isKnownName, plainName, priorFor } from './priors.ts';
import type { Direction } from './scales.ts';

/** What lessons of other runs say of a knob. */
export interface Hint {
  /** The knob's prior counts so much more, or less: 0.5 to 2. */
  factor: number;
  /** The way that helped more often; null where nothing helped, or both ways as much. */
  direction: Direction | null;
  /** Tasks on which it helped. */
  tasks: readonly string[];
}

/** What lessons say of a rewrite of a script: how much more it counts, or less, and the tasks on which it helped. */
export function hintForRewrite(name: string, lessons: readonly Lesson[]): Pick<Hint, 'factor' | 'tasks'> {
  const alike = lessons.filter(({ change }) => change.kind === 'rewrite' && change.name === name);
  return { factor: factorOf(alike), tasks: tasksHelped(alike) };
}

/**
 * What lessons say of a knob of the same kind. Each lesson votes with the similarity of its task: for the knob with the
 * share of its tries that helped, against it with the rest; and for the way that it went, as far as it helped.
 */
export function hintFor(knob: Knob, lessons: readonly Lesson[]): Hint {
  const alike = lessons.filter((lesson) => isSameKind(knob, lesson));
  const way = alike.reduce((sum, { change, better, tries, similarity }) => {
    return change.kind === 'number'
      ? sum + (similarity * better * Math.sign(change.to - change.from)) / tries
      : sum;
  }, 0);
  return {
    factor: factorOf(alike),
    direction: way === 0 ? null : way > 0 ? 1 : -1,
    tasks: tasksHelped(alike),
  };
}

/** 1 without a lesson; a vote doubles or halves, and no number of votes does more. */
function factorOf(alike: readonly Lesson[]): number {
  const votes = alike.reduce(
    (sum, { better, tries, similarity }) => sum + (similarity * (2 * better - tries)) / tries,
    0,
  );
  return 2 ** Math.max(-1, Math.min(1, votes));
}

function tasksHelped(alike: readonly Lesson[]): string[] {
  return [...new Set(alike.filter(({ better }) => better > 0).map(({ fingerprint }) => fingerprint.task))];
}

/** By what is known of the name; of a name that says nothing, by the name itself. */
function isSameKind({ name, prior }: Knob, { change }: Lesson): boolean {
  if (change.kind !== 'number') return false;
  if (plainName(change.name) === plainName(name)) return true;
  const whole = Number.isInteger(change.from);
  return (
    isKnownName(change.name) &&
    priorFor({ name: change.name, callee: '', value: change.from, whole }) === prior
  );
}
