import type { Lesson } from '../../schema/index.ts';
import type { Knob } from './knobs.ts';
import { isKnownName, plainName, priorFor } from './priors.ts';
import type { Direction } from './scales.ts';

/** What lessons of other runs say about a knob. */
export interface Hint {
  /** The factor of the knob's prior: 0.5 to 2. */
  factor: number;
  /** The direction that helped more often; null if nothing helped, or both helped equally. */
  direction: Direction | null;
  /** Tasks on which it helped. */
  tasks: readonly string[];
}

/** What lessons say about a rewrite of a script: the factor of its weight, and the tasks on which it helped. */
export function hintForRewrite(name: string, lessons: readonly Lesson[]): Pick<Hint, 'factor' | 'tasks'> {
  const alike = lessons.filter(({ change }) => change.kind === 'rewrite' && change.name === name);
  return { factor: factorOf(alike, ofKind('rewrite', lessons)), tasks: tasksHelped(alike) };
}

/**
 * What lessons say about a knob of the same kind: how likely it is to help, and in which direction. Each lesson is
 * weighted by the similarity of its task.
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

/** The average, which is assumed for an unknown change, weighs as much as a lesson from an identical task. */
const unknown = 1;
/** About one try in five helps. If there are few lessons of other changes, this is also the average. */
const usual = { better: 0.4, tries: 2 };

/**
 * How much more likely one change helps than the average change in the lessons: its own share of tries that helped,
 * weighted by the similarity of their tasks and shrunk towards the average, divided by the average. From 0.5 to 2; 1
 * without a lesson.
 */
function factorOf(alike: readonly Lesson[], all: readonly Lesson[]): number {
  const known = sums(all.filter((lesson) => !alike.includes(lesson)));
  const average = (known.better + usual.better) / (known.tries + usual.tries);
  const { better, tries } = sums(alike);
  const rate = (better + unknown * average) / (tries + unknown);
  return Math.max(0.5, Math.min(2, rate / average));
}

/** Each lesson counts once, no matter how often its change was tried on its task. */
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

/** By the prior of its name; if the name says nothing, by the name itself. */
function isSameKind({ name, prior }: Knob, { change }: Lesson): boolean {
  if (change.kind !== 'number') return false;
  if (plainName(change.name) === plainName(name)) return true;
  const whole = Number.isInteger(change.from);
  return (
    isKnownName(change.name) &&
    priorFor({ name: change.name, callee: '', value: change.from, whole }) === prior
  );
}
