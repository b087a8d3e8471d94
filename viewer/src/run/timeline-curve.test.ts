import { expect, test } from 'vitest';
import type { Timeline } from '../../../src/schema/index.ts';
import { timeline } from '../test-timeline.ts';
import { curveRange, timelineCurve } from './timeline-curve.ts';

const actions = ['Execute Script', 'Write File', 'Execute Script', 'Final Answer'];
const readings = [
  { step: 1, metric: 'validation loss', printed: 0.4, value: -0.4 },
  { step: 3, metric: 'validation loss', printed: 0.3, value: -0.3 },
];
function graded(...scores: readonly (readonly [step: number, score: number | null])[]): Timeline['grades'] {
  return scores.map(([step, score]) => ({
    ...{ step, score, final: step === 4, valid: score !== null, baseline: 0.5, stale: false },
    ...{ seconds: step, tokens: 0, money: null },
  }));
}
const of = (more: Partial<Timeline>) => timeline(actions, ['ok', 'ok', 'ok', 'ok'], more);

test("if only the end was graded, the scripts' own metric is drawn, so that up is better", () => {
  const curve = timelineCurve(of({ readings, grades: graded([4, 0.35]) }), 'minimize');
  expect(curve?.kind).toBe('validation');
  expect(curve?.points.map(({ step, value }) => [step, value])).toEqual([
    [1, -0.4],
    [3, -0.3],
  ]);
  expect(curve?.points[1]?.words).toBe('validation loss 0.3, as the script printed it');
});

test('the hidden score is drawn if steps were graded, without steps that have none', () => {
  const curve = timelineCurve(of({ readings, grades: graded([1, 0.4], [2, null], [4, 0.35]) }), 'minimize');
  expect(curve).toMatchObject({ kind: 'hidden', baseline: -0.5 });
  expect(curve?.points.map(({ step, value }) => [step, value])).toEqual([
    [1, -0.4],
    [4, -0.35],
  ]);
  expect(curveRange([curve, null])).toEqual({ low: -0.5, high: -0.35 });
});

test('beside a run with only its own validation metric, both are drawn by that metric', () => {
  const beside = of({ readings, grades: graded([4, 0.35]) });
  const short = of({ readings: readings.slice(0, 1), grades: graded([4, 0.45]) });
  expect(timelineCurve(short, 'minimize')?.kind).toBe('hidden');
  expect(timelineCurve(short, 'minimize', beside)?.kind).toBe('validation');
  expect(timelineCurve(of({ grades: graded([4, 0.45]) }), 'minimize', beside)?.kind).toBe('hidden');
});

test('a run without any scores has no curve', () => {
  expect(timelineCurve(of({}), 'maximize')).toBe(null);
  expect(timelineCurve(of({ grades: graded([4, null]) }), 'maximize')).toBe(null);
});
