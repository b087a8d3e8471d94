import { type Lesson, maxLessonsShown } from '../schema/index.ts';
import type { RunTranscript } from '../statistics/index.ts';

/** Lessons in a run's prompts are given like its problem: numbers in them are not claims. */
export function withLessons(transcript: RunTranscript, lessons: readonly Lesson[]): RunTranscript {
  const texts = lessons.slice(0, maxLessonsShown).map(({ change, effect, failure }) => {
    const units = effect.noise_units === null ? '' : Number(effect.noise_units.toPrecision(2));
    return `${change.text} ${failure ?? ''} ${units}`;
  });
  return { ...transcript, problem: [transcript.problem, ...texts].join('\n') };
}
