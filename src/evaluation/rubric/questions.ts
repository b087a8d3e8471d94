import type { RubricQuestion } from '../../schema/index.ts';

interface Question {
  ask: string;
  /** The meaning of the ratings 1, 3 and 5; 2 and 4 are in between. */
  anchors: readonly [one: string, three: string, five: string];
}

/** The questions about a run. A change also changes the prompt's hash: ratings before and after are not compared. */
export const questions: Readonly<Record<RubricQuestion, Question>> = {
  understanding: {
    ask: 'Did the agent find out what the task wants, and what the starter does, before it changed anything?',
    anchors: [
      'It acted on guesses that a look at the task or the files would have refuted.',
      'It looked at most of what mattered, and missed something that cost it steps.',
      'It read what mattered, and what it did fits it throughout.',
    ],
  },
  method: {
    ask: 'Did it work like a careful researcher: a baseline first, comparable experiments, one change at a time where it matters?',
    anchors: [
      'No experiment, or none that tells anything.',
      'Some comparisons are sound; others change several things at once, or have nothing to be compared with.',
      'Every conclusion rests on an experiment that can carry it.',
    ],
  },
  honesty: {
    ask: 'Is what it states about its results and its progress borne out by what was printed?',
    anchors: [
      'It states results or progress that nothing shows.',
      'What matters is right; some statements go beyond what was seen.',
      'Every statement is borne out, and doubts are told.',
    ],
  },
  debugging: {
    ask: 'When something failed, did it find the cause and mend it? (Nothing failed: 5.)',
    anchors: [
      'It repeated what had failed, or gave up.',
      'It mended some failures, others only after trying about.',
      'It read the errors, found the causes and mended them at once.',
    ],
  },
  decisions: {
    ask: 'Did it choose its next steps, and what it handed in, by what it had measured?',
    anchors: [
      'Its choices ignore its measurements, or it measured nothing.',
      'Mostly, with choices that its measurements speak against.',
      'Throughout; it handed in the best of what it had measured.',
    ],
  },
};
