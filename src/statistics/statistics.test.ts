import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { improvement, isSuccess } from './competence.ts';
import { type RunOutcome, resultCells } from './results.ts';
import { mean, median, sampleStandardDeviation, wilsonInterval } from './summary.ts';

const run = (changes: Partial<RunOutcome> = {}): RunOutcome => ({
  task: 'digits',
  agent: 'automl',
  seed: 0,
  end: 'final_answer',
  grade: { valid: true, score: 0.9, baseline: 0.75, direction: 'maximize', threshold: 0.1, stale: false },
  steps: 10,
  seconds: 20,
  tokens: null,
  money: null,
  marks: [],
  ...changes,
});

describe('improvement', () => {
  it('is the relative change, positive when better, for both directions', () => {
    expect(improvement(0.6, 0.5, 'maximize')).toBeCloseTo(0.2);
    expect(improvement(40, 50, 'minimize')).toBeCloseTo(0.2);
    expect(improvement(60, 50, 'minimize')).toBeCloseTo(-0.2);
  });

  it('keeps its sign for negative baselines, and means nothing for a baseline of 0', () => {
    expect(improvement(-1, -2, 'maximize')).toBeCloseTo(0.5);
    expect(improvement(1, 0, 'maximize')).toBeNull();
  });

  it('does not depend on the unit of the score', () => {
    const number = fc.double({ min: 0.001, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(
        number,
        number,
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        (score, baseline, unit) => {
          const plain = improvement(score, baseline, 'minimize') ?? Number.NaN;
          const scaled = improvement(score * unit, baseline * unit, 'minimize') ?? Number.NaN;
          expect(scaled).toBeCloseTo(plain, 5);
        },
      ),
    );
  });

  it('counts as success only beyond the threshold', () => {
    expect(isSuccess(0.1, 0.1)).toBe(false);
    expect(isSuccess(0.1001, 0.1)).toBe(true);
    expect(isSuccess(null, 0.1)).toBe(false);
  });
});

describe('summaries', () => {
  it('give the known values of a small sample', () => {
    expect(mean([1, 2, 3, 6])).toBe(3);
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(sampleStandardDeviation([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(2.13809, 5);
  });

  it("give Wilson's interval as published tables have it", () => {
    // Newcombe 1998, table I: 81 of 263, and 0 of 20.
    expect(wilsonInterval(81, 263).low).toBeCloseTo(0.2553, 4);
    expect(wilsonInterval(81, 263).high).toBeCloseTo(0.3662, 4);
    expect(wilsonInterval(0, 20).low).toBe(0);
    expect(wilsonInterval(0, 20).high).toBeCloseTo(0.1611, 4);
  });

  it('keep the rate inside its interval and the interval inside [0, 1]', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (runs, share) => {
          const successes = Math.round(runs * share);
          const { low, high } = wilsonInterval(successes, runs);
          expect(low).toBeGreaterThanOrEqual(0);
          expect(high).toBeLessThanOrEqual(1);
          expect(successes / runs).toBeGreaterThanOrEqual(low - 1e-12);
          expect(successes / runs).toBeLessThanOrEqual(high + 1e-12);
        },
      ),
    );
  });
});

describe('result cells', () => {
  it('count an invalid submission as a run without success', () => {
    const invalid = run({
      grade: {
        valid: false,
        score: null,
        baseline: 0.75,
        direction: 'maximize',
        threshold: 0.1,
        stale: false,
      },
    });
    const [cell] = resultCells([run(), invalid]);
    expect(cell).toMatchObject({ runs: 2, successes: 1, success_rate: 0.5, valid: 1 });
    expect(cell?.improvement_mean).toBeCloseTo(0.2);
  });

  it('tell infrastructure failures and unfinished runs apart from those that count', () => {
    const [cell] = resultCells([
      run(),
      run({ end: 'infrastructure_error', grade: null }),
      run({ end: null, grade: null }),
    ]);
    expect(cell).toMatchObject({ runs: 1, infrastructure_failures: 1, unfinished: 1, success_rate: 1 });
  });

  it('make one cell for each pair of task and agent', () => {
    const cells = resultCells([run(), run({ agent: 'noop' }), run({ task: 'diabetes' }), run({ seed: 1 })]);
    expect(cells.map(({ task, agent, runs }) => [task, agent, runs])).toEqual([
      ['digits', 'automl', 2],
      ['digits', 'noop', 1],
      ['diabetes', 'automl', 1],
    ]);
  });

  it('have no rate where no run counts', () => {
    const [cell] = resultCells([run({ end: null, grade: null })]);
    expect(cell).toMatchObject({
      success_rate: null,
      success_interval: { low: 0, high: 1 },
      score_mean: null,
    });
  });
});
