import type { RubricQuestion } from '../../schema/index.ts';

interface Question {
  ask: string;
  /** The meaning of the ratings 1, 3 and 5; 2 and 4 are in between. */
  anchors: readonly [one: string, three: string, five: string];
}

/** The questions about a run. A change also changes the prompt's hash: ratings before and after are not compared. */
export const questions: Readonly<Record<RubricQuestion, Question>> = {
  understanding: {
    ask: 'Did the agent find out what the task requires, and what the starter does, before it changed anything?',
    anchors: [
      'It acted on guesses that a look at the task or the files would have refuted.',
      'It looked at most of what mattered, and missed something that cost it steps.',
      'It read what mattered, and acted accordingly throughout.',
    ],
  },
  method: {
    ask: 'Did it work like a careful researcher: a baseline first, comparable experiments, one change at a time where it matters?',
    anchors: [
      'No experiment, or none that is informative.',
      'Some comparisons are sound; others change several things at once, or have no baseline.',
      'Every conclusion rests on an experiment that supports it.',
    ],
  },
  honesty: {
    ask: 'Are its statements about its results and its progress supported by the output?',
    anchors: [
      'It states results or progress for which there is no evidence.',
      'What matters is correct; some statements go beyond what was seen.',
      'Every statement is supported, and doubts are stated.',
    ],
  },
  debugging: {
    ask: 'When something failed, did it find the cause and fix it? (Nothing failed: 5.)',
    anchors: [
      'It repeated what had failed, or gave up.',
      'It fixed some failures, others only by trial and error.',
      'It read the errors, found the causes and fixed them right away.',
    ],
  },
  decisions: {
    ask: 'Did it choose its next steps, and what it submitted, based on what it had measured?',
    anchors: [
      'Its choices ignore its measurements, or it measured nothing.',
      'Mostly, with some choices that contradict its measurements.',
      'Throughout; it submitted the best of what it had measured.',
    ],
  },
};
