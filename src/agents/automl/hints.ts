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
  return { factor: factorOf(alike, ofKind('rewrite', lessons)), tasks: tasksHelped(alike) };
}

/**
 * What lessons say of a knob of the same kind: how likely it is to help, and the way that did. Each lesson votes with the
 * similarity of its task.
 */
export function hintFor(knob: Knob, lessons: readonly Lesson[]): Hint {
  const alike = lessons.filter((lesson) => isSameKind(knob, lesson));
  const way = alike.reduce((sum, { change, better, tries, similarity }) => {
    return change.kind === 'number'
      ? sum + (similarity * better * Math.sign(change.to - change.from)) / tries
      : sum;
  }, 0);
  return {
    factor: factorOf(alike, ofKind('number', lessons)),
    direction: way === 0 ? null : way > 0 ? 1 : -1,
    tasks: tasksHelped(alike),
  };
}

/** An average change of which nothing is known weighs as much as a lesson from a task that is just like this one. */
const unknown = 1;
/** About one try in five helps; where there are few lessons of other changes, this is the average as well. */
const usual = { better: 0.4, tries: 2 };

/**
 * By how much likelier one change helps than the others of the lessons do on average: its own share of tries that helped,
 * weighed by the similarity of their tasks and drawn towards the average, by the average. From 0.5 to 2; 1 without a lesson.
 */
function factorOf(alike: readonly Lesson[], all: readonly Lesson[]): number {
  const known = sums(all.filter((lesson) => !alike.includes(lesson)));
  const average = (known.better + usual.better) / (known.tries + usual.tries);
  const { better, tries } = sums(alike);
  const rate = (better + unknown * average) / (tries + unknown);
  return Math.max(0.5, Math.min(2, rate / average));
}

/** Each lesson counts once, however often its change was tried on its task. */
function sums(lessons: readonly Lesson[]): { better: number; tries: number } {
  return {
    better: lessons.reduce((sum, { better, tries, similarity }) => sum + (similarity * better) / tries, 0),
    tries: lessons.reduce((sum, { similarity }) => sum + similarity, 0),
  };
}

function ofKind(kind: Lesson['change']['kind'], lessons: readonly Lesson[]): Lesson[] {
  return lessons.filter(({ change }) => change.kind === kind);
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
