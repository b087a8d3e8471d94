import { type Lesson, mostLessonsShown } from '../schema/index.ts';
import type { RunTranscript } from '../statistics/index.ts';

/** What a run was told of others stands in its prompts beside its problem: numbers in it are given, not claimed. */
export function withLessons(transcript: RunTranscript, lessons: readonly Lesson[]): RunTranscript {
  const told = lessons.slice(0, mostLessonsShown).map(({ change, effect, failure }) => {
    const units = effect.noise_units === null ? '' : Number(effect.noise_units.toPrecision(2));
    return `${change.text} ${failure ?? ''} ${units}`;
  });
  return { ...transcript, problem: [transcript.problem, ...told].join('\n') };
}
