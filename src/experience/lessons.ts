import type { ExperienceEntry, Lesson, TaskFingerprint } from '../schema/index.ts';
import { similarity } from './similarity.ts';

export interface LessonsWanted {
  for: TaskFingerprint;
  /** The experiment of the run that gets the lessons: its own findings are excluded. */
  experiment: string;
  /** Also use entries of the task itself and of its variants. */
  sameTask: boolean;
  /** The maximum number; default 40. */
  most?: number;
}

/** Less similar tasks are ignored. */
const minSimilarity = 0.25;
/** Changes with a name add up over tasks; other edits are each unique. */
const maxEdits = 10;

/**
 * Lessons of earlier runs for a task, best first. Tries of the same change on the same task make one lesson. Lessons
 * are ranked by the similarity of the task times the chance that the change helps, (better + 1) / (tries + 2); a change
 * that never helped still counts as a warning. The order of the entries does not matter.
 */
export function chooseLessons(entries: readonly ExperienceEntry[], wanted: LessonsWanted): Lesson[] {
  const distinct = [...new Map(entries.map((entry) => [entry.id, entry])).values()];
  const usable = distinct.filter(({ fingerprint, source, outcome }) => {
    const isSame = fingerprint.family === wanted.for.family;
    return source.experiment !== wanted.experiment && (wanted.sameTask || !isSame) && outcome !== 'unclear';
  });
  const lessons = [...Map.groupBy(usable, keyOf).values()].map((tries) => lessonOf(tries, wanted.for));
  const ranked = lessons
    .filter((lesson) => lesson.similarity >= minSimilarity)
    .sort((one, other) => worth(other) - worth(one) || (one.id < other.id ? -1 : 1));
  const edits = new Set(ranked.filter(({ change }) => change.kind === 'edit').slice(maxEdits));
  return ranked.filter((lesson) => !edits.has(lesson)).slice(0, wanted.most ?? 40);
}

/** Identifies a change on a task; every edit is unique. */
function keyOf({ fingerprint, change, id }: ExperienceEntry): string {
  const { task } = fingerprint;
  if (change.kind === 'edit') return `${task} edit ${id}`;
  const name = change.name.toLowerCase();
  return change.kind === 'number'
    ? `${task} ${name} ${change.to > change.from ? 'up' : 'down'}`
    : `${task} ${change.kind} ${name}`;
}

/** The most informative try represents all of them. */
function lessonOf(tries: readonly ExperienceEntry[], task: TaskFingerprint): Lesson {
  const shown = [...tries].sort(
    (one, other) =>
      (other.effect.noise_units ?? -Infinity) - (one.effect.noise_units ?? -Infinity) ||
      rank(one) - rank(other) ||
      (one.id < other.id ? -1 : 1),
  );
  const [first] = shown;
  if (first === undefined) throw new Error('a lesson of no entry');
  const { id, change, effect, failure, source, agent, fingerprint } = first;
  const { task: name, modality, metric } = fingerprint;
  return {
    ...{ id, change, failure, source, agent },
    effect: { noise_units: effect.noise_units, validation: effect.validation },
    fingerprint: { task: name, modality, metric },
    tries: tries.length,
    better: tries.filter(({ outcome }) => outcome === 'better').length,
    failed: tries.filter(({ outcome }) => outcome === 'failed').length,
    similarity: similarity(fingerprint, task),
  };
}

function rank({ outcome }: ExperienceEntry): number {
  return ['better', 'not_better', 'failed', 'unclear'].indexOf(outcome);
}

function worth({ similarity: alike, better, tries }: Lesson): number {
  return (alike * (better + 1)) / (tries + 2);
}
