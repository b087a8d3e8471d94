import { expect, test } from 'vitest';
import { evaluation } from '../../../test/fixtures/evaluations.ts';
import type { RunEvaluation } from '../../schema/index.ts';
import { withoutCopies } from './copies.ts';

const named = (experiment: string, recording: string | undefined, planned?: string): RunEvaluation => ({
  ...evaluation({ experiment }),
  ...(recording === undefined ? {} : { recording }),
  ...(planned === undefined ? {} : { planned_in: evaluation({ experiment: planned }).experiment }),
});

test('the original counts, whatever the copy is called, in any order', () => {
  const [copy, original] = [named('a-copy', 'x', 'first'), named('first', 'x')];
  for (const given of [
    [copy, original],
    [original, copy],
  ]) {
    expect(withoutCopies(given)).toEqual({
      evaluations: [original],
      copies: [{ experiment: 'a-copy', of: 'first', runs: [original.run] }],
    });
  }
});

test('a copy of an attempt that was discarded where it was recorded is a copy, and not the other way round', () => {
  const retried: RunEvaluation = { ...named('first', 'y'), replaced: ['x'] };
  const copy = named('a-copy', 'x', 'first');
  expect(withoutCopies([copy, retried])).toEqual({
    evaluations: [retried],
    copies: [{ experiment: 'a-copy', of: 'first', runs: [copy.run] }],
  });
  const retriedCopy: RunEvaluation = { ...named('a-copy', 'y', 'first'), replaced: ['x'] };
  const given = [named('first', 'x'), retriedCopy];
  expect(withoutCopies(given)).toEqual({ evaluations: given, copies: [] });
});

test('of copies without their original the first by name counts', () => {
  const { evaluations, copies } = withoutCopies([named('b', 'x', 'first'), named('a', 'x', 'first')]);
  expect(evaluations.map(({ experiment }) => experiment)).toEqual(['a']);
  expect(copies).toMatchObject([{ experiment: 'b', of: 'a' }]);
});

test('runs that were recorded separately, or have not begun, all count', () => {
  const given = [
    named('first', 'x'),
    named('second', 'y', 'first'),
    named('first', undefined),
    named('second', undefined, 'first'),
  ];
  expect(withoutCopies(given)).toEqual({ evaluations: given, copies: [] });
});
