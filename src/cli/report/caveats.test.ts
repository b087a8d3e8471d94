import { expect, test } from 'vitest';
import { evaluation } from '../../../test/fixtures/evaluations.ts';
import type { RunEvaluation } from '../../schema/index.ts';
import { buildReport } from '../../statistics/index.ts';
import { documentOf } from './document-of.ts';
import { terminalText } from './formats.ts';

test('a run without a valid submission is reported, also next to a failed one that left a valid submission', () => {
  const end = { reason: 'infrastructure_error', cause: null, message: '' } as const;
  const report = buildReport([evaluation({ end }), evaluation({ seed: 1, scores: [null] })]);
  const text = terminalText(documentOf(report, null, ['results']));
  expect(text).toContain('1 run without a valid submission');
});

test('a row says over how many runs its normalised score is, if that is fewer than its rates count', () => {
  const end = { reason: 'infrastructure_error', cause: null, message: '' } as const;
  const failure = evaluation({ seed: 1, end, scores: [], scoring_reference: null });
  const textOf = (...runs: RunEvaluation[]) =>
    terminalText(documentOf(buildReport(runs, { resamples: 10 }), null, ['agents']));
  expect(textOf(evaluation(), failure)).toContain('normalised scores of 1 of 2 runs');
  expect(textOf(evaluation())).not.toContain('normalised scores of');
});

test('runs that share steps are a caveat: a fork beside its parent, also of a renamed experiment, and continued copies', () => {
  const parent = evaluation({ experiment: 'first' });
  const fork = (changes: Partial<RunEvaluation>): RunEvaluation => ({
    ...evaluation({ experiment: 'other' }),
    parent: { experiment: parent.experiment, run: parent.run, step: 4 },
    ...changes,
  });
  const caveatOf = (...runs: RunEvaluation[]) =>
    terminalText(documentOf(buildReport(runs, { resamples: 10 }), null, ['results'])).match(
      /(\d+ runs?) shares? steps with others/,
    )?.[1];
  expect(caveatOf(parent)).toBeUndefined();
  expect(caveatOf(fork({}))).toBeUndefined();
  expect(caveatOf(parent, fork({}))).toBe('1 run');
  expect(caveatOf(parent, fork({ agent: 'react' }))).toBeUndefined();
  const third = evaluation({ experiment: 'third' }).experiment;
  expect(caveatOf(fork({}), fork({ experiment: third }))).toBe('2 runs');
  const renamed = { ...parent, experiment: third, planned_in: parent.experiment };
  expect(caveatOf(renamed, fork({}))).toBe('1 run');
  // Copies of an interrupted run that were continued apart.
  const copies = ['one', 'other'].map((recording) => ({ ...parent, recording, beginning: 'same' }));
  expect(caveatOf(...copies)).toBe('2 runs');
});
