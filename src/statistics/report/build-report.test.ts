import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accuracy, evaluation, finished } from '../../../test/fixtures/evaluations.ts';
import { BranchId, Report, type RunEvaluation } from '../../schema/index.ts';
import { buildReport } from './build-report.ts';

const quick = { resamples: 200 };
const died = (cause: string | null) =>
  evaluation({
    scores: [],
    end: { reason: 'infrastructure_error', cause, message: 'gone' },
    scoring_reference: null,
  });

function only<T>(items: readonly T[]): T {
  const [first] = items;
  if (first === undefined || items.length > 1) throw new Error(`${items.length} items`);
  return first;
}

const pairOf = (runs: readonly RunEvaluation[], options = {}) =>
  only(buildReport(runs, { ...quick, ...options }).pairs);

/** Runs of two agents on two tasks, in any order. */
const someRuns = fc.array(
  fc
    .record({
      task: fc.constantFrom('digits', 'ecoli'),
      agent: fc.constantFrom('automl', 'research(scripted/a)'),
      seed: fc.nat(1000),
      scores: fc.array(
        fc.option(fc.oneof(fc.double({ min: 0.1, max: 1, noNaN: true }), fc.constant(1e200))),
        { maxLength: 4 },
      ),
      money: fc.option(fc.double({ min: 0, max: 5, noNaN: true })),
      end: fc.constantFrom(null, finished, { ...finished, reason: 'infrastructure_error' as const }),
    })
    .map(evaluation),
  { minLength: 1, maxLength: 16 },
);

describe('a report', () => {
  it('fits its schema, and has only values that JSON can represent', () => {
    fc.assert(
      fc.property(someRuns, fc.constantFrom('every_run' as const, 'paper' as const), (runs, convention) => {
        const report = buildReport(runs, { resamples: 20, convention });
        expect(Report.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
        for (const { runs: all, outcomes } of [...report.pairs, ...report.rows])
          expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(all);
      }),
      { numRuns: 60 },
    );
  });

  it('counts kinds of failure only of the runs that ended', () => {
    const errors = [
      { category: 'bad_plan' as const, evidence: [{ step: null, text: 'nothing was executed' }] },
    ];
    const runs = [evaluation({ errors }), evaluation({ seed: 1, errors, end: null })];
    expect(pairOf(runs)).toMatchObject({ runs: 2, errors: { bad_plan: 1 } });
  });

  it('is the same, byte for byte, in whatever order the runs come', () => {
    const shuffled = someRuns.chain((runs) =>
      fc.tuple(
        fc.constant(runs),
        fc.shuffledSubarray(runs, { minLength: runs.length, maxLength: runs.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([runs, others]) => {
        expect(JSON.stringify(buildReport(others, { resamples: 20 }))).toBe(
          JSON.stringify(buildReport(runs, { resamples: 20 })),
        );
      }),
      { numRuns: 40 },
    );
  });

  it('does not change with the unit of the score, except for the scores', () => {
    const scores = [0.4, 0.62, null, 0.55, 0.71];
    const inUnit = (unit: number) =>
      scores.map((score, seed) =>
        evaluation({
          seed,
          scores: [score === null ? null : score * unit],
          scoring_reference: {
            ...accuracy,
            baseline: { mean: 0.5 * unit, spread: 0.01 * unit, seeds: 5 },
            reference: { mean: 0.9 * unit, spread: 0.01 * unit, seeds: 5 },
          },
        }),
      );
    const [plain, scaled] = [pairOf(inUnit(1)), pairOf(inUnit(4))];
    const { score, scoring_reference, ...rest } = scaled;
    expect(rest).toMatchObject({ success: plain.success, pass_at: plain.pass_at });
    expect(rest.normalised?.mean_interval?.low).toBeCloseTo(plain.normalised?.mean_interval?.low ?? 9, 9);
    expect(rest.improvement?.mean).toBeCloseTo(plain.improvement?.mean ?? 9, 9);
    expect([score?.mean, scoring_reference?.baseline.mean]).toEqual([(plain.score?.mean ?? 0) * 4, 2]);
  });

  it('is the same for agents with other names, except for the order', () => {
    const runs = (one: string, other: string) =>
      [0.4, 0.6, 0.8].flatMap((score, seed) => [
        evaluation({ agent: one, seed, scores: [score] }),
        evaluation({ agent: other, seed, scores: [0.5] }),
      ]);
    const rowsOf = (one: string, other: string) => {
      const { rows } = buildReport(runs(one, other), quick);
      return [one, other].map((name) => {
        const row = rows.find(({ agent }) => agent === name);
        return [row?.success?.mean, row?.success?.interval, row?.normalised_iqm?.value, row?.pass_at];
      });
    };
    expect(rowsOf('a', 'b')).toEqual(rowsOf('z', 'b'));
  });

  it('of no runs is empty', () => {
    const report = buildReport([]);
    expect([report.pairs, report.rows, report.runs, report.frontiers]).toEqual([[], [], [], []]);
  });
});

describe('a task–agent pair', () => {
  it('counts every run that ended, and distinguishes infrastructure failures by cause', () => {
    const cell = pairOf([
      evaluation({ seed: 0 }),
      evaluation({ seed: 1, scores: [null] }),
      { ...died('quota_exhausted'), seed: 2 },
      { ...died(null), seed: 3 },
      evaluation({ seed: 4, end: null }),
    ]);
    expect(cell).toMatchObject({ runs: 5, unfinished: 1, valid: 2 });
    expect(cell.infrastructure).toEqual({ quota_exhausted: 1, unknown: 1 });
    expect(cell.success).toMatchObject({ successes: 1, runs: 4, rate: 0.25 });
    expect(cell.rates.without_infrastructure).toMatchObject({ successes: 1, runs: 2 });
    expect(cell.outcomes).toEqual({
      ...{
        success: 1,
        small_improvement: 0,
        no_improvement: 0,
        invalid: 1,
        infrastructure: 2,
        unfinished: 1,
      },
    });
    expect(cell.ends).toEqual({ final_answer: 2, infrastructure_error: 2 });
  });

  it('averages improvements of valid submissions, and of all with 0 for invalid ones', () => {
    const cell = pairOf([evaluation({ seed: 0 }), evaluation({ seed: 1, scores: [null] }), died('sandbox')]);
    expect(cell.improvement).toMatchObject({ count: 1, mean_interval: null, spread: null });
    expect(cell.improvement?.mean).toBeCloseTo(0.2, 12);
    expect(cell.improvement_of_all?.mean).toBeCloseTo(0.2 / 3, 12);
    expect(cell.normalised?.mean).toBeCloseTo(0.25 / 2, 12);
  });

  it('has a normalised score of 0 for each run that was graded without a valid submission', () => {
    const unfinished = evaluation({ seed: 3, scores: [], end: null });
    const runs = [
      evaluation({ seed: 0 }),
      evaluation({ seed: 1, scores: [null] }),
      { ...died('sandbox'), seed: 2 },
      unfinished,
    ];
    const { runs: lines } = buildReport(runs, { resamples: 10 });
    expect(lines.map(({ normalised }) => normalised?.toFixed(9) ?? null)).toEqual([
      ...['0.250000000', '0.000000000', null, null],
    ]);
  });

  it('says the same of a failure that was never graded, whatever other runs the report has', () => {
    const failure = died('sandbox');
    const lineIn = (...others: RunEvaluation[]) =>
      buildReport([failure, ...others], { resamples: 10 }).runs.find(({ end }) => end?.cause === 'sandbox');
    expect(lineIn()).toMatchObject({ outcome: 'infrastructure', normalised: null, significant: null });
    expect(lineIn(evaluation({ seed: 1 }))).toEqual(lineIn());
  });

  it('has a normalised score of 0 for a failure whose steps were graded', () => {
    const end = { reason: 'infrastructure_error', cause: null, message: '' } as const;
    const [line] = buildReport([{ ...evaluation({ end }), grades: [] }], { resamples: 10 }).runs;
    expect(line).toMatchObject({ normalised: 0, significant: false });
  });

  it('does not know the success of a run that is not finished or not graded', () => {
    const { runs } = buildReport(
      [
        evaluation({ end: null }),
        evaluation({ seed: 1, scores: [] }),
        evaluation({ seed: 2, scores: [0.4] }),
      ],
      { resamples: 10 },
    );
    expect(runs.map(({ success, significant }) => [success, significant])).toEqual([
      [null, null],
      [null, null],
      [false, false],
    ]);
  });

  it('knows every step of a run with branches if those of the selected one are graded', () => {
    const [main, forked] = [BranchId.parse('main'), BranchId.parse('b1')];
    const branch = { grade: null, selected: false } as const;
    const run: RunEvaluation = {
      ...evaluation({ scores: [0.7, 0.56] }),
      steps: 8,
      branches: [
        { ...branch, branch: main, origin: null, steps: 7 },
        { ...branch, branch: forked, origin: { branch: main, step: 1 }, steps: 1, selected: true },
      ],
    };
    expect(pairOf([run]).thresholds[0]?.any_step).toMatchObject({ successes: 1, runs: 1 });
    expect(pairOf([{ ...run, grades: run.grades.slice(1) }]).thresholds[0]?.any_step.runs).toBe(0);
  });

  it('calls a score that differs from the baseline only by the rounding of figures no improvement', () => {
    const runs = [0.5000004, 0.501, 0.4].map((score, seed) => evaluation({ seed, scores: [score] }));
    expect(buildReport(runs, { resamples: 10 }).runs.map(({ outcome }) => outcome)).toEqual([
      ...['no_improvement', 'small_improvement', 'no_improvement'],
    ]);
  });

  it('shows success at each threshold, at the end and at any step', () => {
    const cell = pairOf([
      evaluation({ seed: 0, scores: [0.7, 0.56] }),
      // Only the end of this run was graded.
      { ...evaluation({ seed: 1, scores: [0.56] }), steps: 9 },
    ]);
    const shown = cell.thresholds.map(({ threshold, end, any_step }) => [
      threshold,
      `${end.successes}/${end.runs}`,
      `${any_step.successes}/${any_step.runs}`,
    ]);
    expect(shown).toEqual([
      [0.05, '2/2', '1/1'],
      [0.1, '2/2', '1/1'],
      [0.15, '0/2', '1/1'],
      [0.2, '0/2', '1/1'],
      [0.3, '0/2', '1/1'],
    ]);
    expect(cell.best?.step.mean).toBe(1);
  });

  it('knows nothing of any step of runs without graded steps; beside graded ones, a failure counts', () => {
    const anyStep = (runs: readonly RunEvaluation[]) => {
      const counted = pairOf(runs).thresholds[0]?.any_step;
      return `${counted?.successes}/${counted?.runs}`;
    };
    const graded = evaluation({ seed: 0, scores: [0.7, 0.8] });
    const atItsEnd = { ...evaluation({ seed: 1, scores: [0.8] }), steps: 9 };
    const failure = { ...died('sandbox'), seed: 2, steps: 4 };
    expect(anyStep([graded, failure])).toBe('1/2');
    expect(anyStep([atItsEnd, failure])).toBe('0/0');
    // It crashed before its first step, or takes none, as a command does.
    const withoutSteps = (seed: number, score: number | null): RunEvaluation => {
      const run = evaluation({ seed, scores: [score] });
      return { ...run, steps: 0, grades: run.grades.map((grade) => ({ ...grade, step: 0 })) };
    };
    expect(anyStep([graded, withoutSteps(3, null)])).toBe('1/2');
    expect(anyStep([graded, withoutSteps(3, 0.8)])).toBe('2/2');
    expect(anyStep([atItsEnd, withoutSteps(3, null)])).toBe('0/0');
    expect(anyStep([withoutSteps(3, 0.8), withoutSteps(4, null)])).toBe('1/2');
    expect(pairOf([withoutSteps(3, 0.8)]).best).toMatchObject({ step: { mean: 0 } });
    expect(Report.safeParse(buildReport([withoutSteps(3, 0.8)], quick)).error).toBeUndefined();
    const { curves } = buildReport([graded, withoutSteps(3, null)], quick);
    expect(curves.map(({ runs }) => runs)).toEqual([2, 2, 2, 2]);
  });

  it('has no improvement of all runs over a baseline of 0', () => {
    const baseline = { ...accuracy, baseline: { mean: 0, spread: 0, seeds: 5 } };
    const runs = [[0.6], [0.7], [null]].map((scores, seed) =>
      evaluation({ seed, scores, scoring_reference: baseline }),
    );
    expect(pairOf(runs)).toMatchObject({ improvement: null, improvement_of_all: null });
  });

  it("calls a success significant only beyond the starter's own noise", () => {
    const noisy = { ...accuracy, baseline: { mean: 0.5, spread: 0.05, seeds: 3 } };
    // 4.3027 × 0.05 × √(4/3) / 0.5 = 49.7 %.
    const runs = [0.6, 0.74, 0.75].map((score, seed) =>
      evaluation({ seed, scores: [score], scoring_reference: noisy }),
    );
    expect(pairOf(runs)).toMatchObject({
      success: { successes: 3 },
      significant: { successes: 1, runs: 3 },
    });
    const unknown = evaluation({
      scoring_reference: { ...noisy, baseline: { mean: 0.5, spread: null, seeds: null } },
    });
    expect(pairOf([unknown]).significant).toMatchObject({ runs: 0, rate: null });
  });

  it('has rates with and without runs whose integrity is doubtful', () => {
    const flag = (weight: 'attempt' | 'doubt') => [
      { kind: 'network' as const, step: 1, weight, evidence: 'curl' },
    ];
    const cell = pairOf([
      evaluation({ seed: 0, scores: [0.4] }),
      evaluation({ seed: 1, integrity: flag('attempt') }),
      evaluation({ seed: 2, integrity: flag('doubt') }),
    ]);
    expect(cell.integrity).toEqual({ flagged: 2, doubted: 1, runs_by_kind: { network: 2 } });
    expect(cell.rates.all).toMatchObject({ successes: 2, runs: 3 });
    expect(cell.rates.without_flagged).toMatchObject({ successes: 0, runs: 1 });
    expect(cell.rates.without_doubted).toMatchObject({ successes: 1, runs: 2 });
  });

  it('compares with the starter that was timed together with the submission', () => {
    const slow = { ...accuracy, direction: 'minimize' as const, best: 0 };
    const twice = { ...slow, reference: { mean: 0.25, spread: 0, seeds: 3 } };
    const cell = pairOf([evaluation({ scores: [3], baseline: 4, scoring_reference: twice })]);
    expect(cell.improvement?.mean).toBeCloseTo(0.25, 12);
    expect(cell.normalised?.mean).toBeCloseTo(0.5, 12);
  });

  it('adds up the resource use of runs, and has no successes per dollar if a cost is unknown', () => {
    const both = [evaluation({ seed: 0, money: 1 }), evaluation({ seed: 1, money: 3, scores: [0.5] })];
    expect(pairOf(both).efficiency).toMatchObject({ money: 2, priced: 2, success_per_dollar: 0.25 });
    expect(pairOf(both).efficiency?.success_per_hour).toBeCloseTo(3600 / 20, 9);
    const unknown = pairOf([...both, evaluation({ seed: 2, money: null })]);
    expect(unknown.efficiency).toMatchObject({ money: 2, priced: 2, runs: 3, success_per_dollar: null });
  });

  it('has no successes per hour or dollar of runs whose end was not graded', () => {
    const { efficiency } = pairOf([evaluation({ scores: [], seconds: 10 })]);
    expect(efficiency).toMatchObject({
      seconds: { wall: 10 },
      success_per_hour: null,
      success_per_dollar: null,
    });
    const some = pairOf([evaluation({ scores: [], seconds: 10 }), evaluation({ seed: 1, seconds: 10 })]);
    expect(some.efficiency?.success_per_hour).toBeCloseTo(3600 / 10, 9);
  });

  it('has means of every process measure, and none of plans if no agent kept one', () => {
    const { process } = pairOf([evaluation({ seed: 0 }), evaluation({ seed: 1 })]);
    expect(process).toMatchObject({ 'grounding.claims': 2, 'debugging.recovery_rate': 1, 'plan.kept': 0 });
    expect(Object.keys(process)).not.toContain('plan.declared');
    expect(Object.keys(process)).not.toContain('progress.regret');
  });
});

describe("the paper's convention", () => {
  const convention = 'paper' as const;

  it('leaves infrastructure failures out of the rate, and still says how many there were', () => {
    const cell = pairOf([evaluation(), { ...died('rate_limit'), seed: 1 }], { convention });
    expect(cell.success).toMatchObject({ successes: 1, runs: 1 });
    expect(cell.infrastructure).toEqual({ rate_limit: 1 });
  });

  it('divides successes by the costs of the runs that count', () => {
    const failure = { ...died('rate_limit'), seed: 1, efficiency: evaluation({ money: 8 }).efficiency };
    const runs = [evaluation({ money: 1 }), failure];
    expect(pairOf(runs, { convention }).efficiency?.success_per_dollar).toBe(1);
    expect(pairOf(runs).efficiency?.success_per_dollar).toBeCloseTo(1 / 9, 12);
  });

  it("requires 10 % for every task, relative to the paper's own baselines for tasks that it patched", () => {
    const house = { ...accuracy, direction: 'minimize' as const, threshold: 0.5, best: 0 };
    const scoringReference = { ...house, baseline: { mean: 55335, spread: 0, seeds: 1 } };
    // The results of the recorded runs of one model.
    const scores = [55417.2, 20613.1, 21817.6, null, 22525.5];
    const runs = scores.map((score, seed) =>
      evaluation({ task: 'house-price', seed, scores: [score], scoring_reference: scoringReference }),
    );
    const options = { convention, paperBaselines: { 'house-price': 1e10 } };
    const cell = pairOf(runs, options);
    expect(cell.success).toMatchObject({ successes: 4, runs: 5 });
    expect(cell.improvement).toMatchObject({ count: 4 });
    expect(cell.improvement?.mean).toBeCloseTo(1, 4);
    expect(cell.significant.runs).toBe(0);
    expect(cell.scoring_reference).toMatchObject({ threshold: 0.1, baseline: { mean: 1e10 } });
    expect(pairOf(runs).success).toMatchObject({ successes: 3 });
  });

  it('counts a task without a valid submission as no improvement in the average', () => {
    const runs = [evaluation(), evaluation({ task: 'ecoli', scores: [null] })];
    expect(only(buildReport(runs, { ...quick, convention }).rows).improvement?.mean).toBeCloseTo(0.1, 12);
    expect(only(buildReport(runs, quick).rows).improvement?.mean).toBeCloseTo(0.2, 12);
  });

  it('shows published columns with their published means', () => {
    // GPT-4's success rates in table 3, by the order of the tasks there; their published average is 19.2.
    const rates = [25, 25, 87.5, 12.5, 12.5, 0, 0, 12.5, 25, 0, 0, 50, 0];
    const runs = rates.map((_, index) => evaluation({ task: `task-${index}` }));
    const published = Object.fromEntries(
      rates.map((success_rate, index) => [`task-${index}`, [{ agent: 'GPT-4', success_rate }]]),
    );
    const column = only(buildReport(runs, { ...quick, published }).published);
    expect(column.mean.success_rate).toBeCloseTo(0.192, 3);
    expect(column.tasks).toHaveLength(13);
    expect(buildReport(runs, quick).published).toEqual([]);
  });
});
