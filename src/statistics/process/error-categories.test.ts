import { describe, expect, test } from 'vitest';
import { processMetrics } from './process-metrics.ts';
import type { RunTranscript, TranscriptStep } from './run-transcript.ts';
import {
  answered,
  crashed,
  did,
  edited,
  executed,
  graded,
  noSubmission,
  scoringReference,
  transcriptOf,
} from './test-support.ts';

const list = did('List Files', { dir_path: '.' });

describe('error categories', () => {
  const failure = crashed("NameError: name 'np' is not defined");
  const categories = (steps: TranscriptStep[], more: Partial<RunTranscript> = {}) =>
    processMetrics(transcriptOf(steps, more), scoringReference).errors.map(({ category }) => category);
  const present = executed('', { submission: { ...noSubmission, present: true } });

  test.each<[string, TranscriptStep[], Partial<RunTranscript>, string[]]>([
    ['a good run', [edited(), executed('')], { end: answered('') }, []],
    [
      'a result that nothing measured',
      [executed('')],
      { end: answered('The accuracy is 0.9.') },
      ['hallucination'],
    ],
    ['failures to the end', [failure, failure, crashed('ValueError: x')], {}, ['debugging']],
    [
      'the same failure again and again',
      [failure, edited(), failure, edited(), failure, executed('')],
      {},
      ['debugging'],
    ],
    [
      'different failures that were fixed',
      [failure, crashed('ValueError: x'), edited(), failure, executed('')],
      {},
      [],
    ],
    [
      'a conversation too long',
      [executed('')],
      { end: { reason: 'context_limit', message: '', finalAnswer: null } },
      ['context_limit'],
    ],
    ['nothing executed', [list], {}, ['bad_plan']],
    ['an unverified ending', [executed(''), edited()], { end: answered('') }, ['bad_plan']],
    ['the same again and again', [executed(''), list, list, list, list], {}, ['bad_plan']],
    [
      'unreadable replies',
      [executed('')],
      { formatErrors: [0, 0, 1].map((afterStep) => ({ afterStep, reply: '' })) },
      ['response_format'],
    ],
    [
      'a submission that is refused',
      [present],
      { grades: [graded(1, null, { final: true })] },
      ['submission_format'],
    ],
    ['a run in which somebody else took part', [list], { isShared: true }, []],
    [
      'a run that the infrastructure cut off',
      [list],
      { end: { reason: 'infrastructure_error', message: '', finalAnswer: null } },
      [],
    ],
    ['no submission', [executed('')], { grades: [graded(1, null, { final: true })] }, []],
    [
      'a small improvement',
      [present],
      { grades: [graded(1, 0.54, { final: true })] },
      ['small_or_no_improvement'],
    ],
    ['a large improvement', [present], { grades: [graded(1, 0.6, { final: true })] }, []],
  ])('%s', (_, steps, more, expected) => {
    expect(categories(steps, more)).toEqual(expected);
  });
});
