import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkPython, ensurePython } from '../tasks/index.ts';
import { bootstrapInterval, resampleInterquartileMean } from './numeric/bootstrap.ts';
import { normalCdf, studentQuantile } from './numeric/distributions.ts';
import { kendallTauB } from './numeric/kendall.ts';
import { meanDifferenceInterval, meanInterval, medianInterval } from './numeric/mean-intervals.ts';
import { Exchanges, permutationTest } from './numeric/permutation.ts';
import { randomOf } from './numeric/random.ts';
import { interquartileMean, quantileOfSorted, sampleStandardDeviation, wilsonInterval } from './summary.ts';

const requirements = `
numpy==2.4.6; python_version >= "3.11"
numpy==2.2.6; python_version < "3.11"
scipy==1.17.1; python_version >= "3.11"
scipy==1.15.3; python_version < "3.11"
`;

const { state, detail } = await checkPython({ variables: process.env });
const why = state === 'ok' ? '' : ` (skipped: no Python that serves: ${detail})`;

/** The same numbers for both sides, from a simple generator. */
function numbers(count: number, start: number): number[] {
  let state = start;
  return Array.from({ length: count }, () => {
    state = (state * 16807) % 2147483647;
    return Math.round((state / 2147483647) * 1000) / 1000;
  });
}

describe.skipIf(why !== '')(`compared with scipy${why}`, () => {
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-scipy-'));
  let python = '';

  beforeAll(async () => {
    const cache = process.env.MLAB_CACHE ?? join(scratch, 'cache');
    python = (await ensurePython(requirements, { cache })).executable;
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  /** The numbers that lines of Python print; they can use `given`, `np` and `stats`. */
  function calculate(given: unknown, expression: string): number[] {
    const code = `import json, sys, numpy as np\nfrom scipy import stats\ngiven = json.load(sys.stdin)\nprint(json.dumps([float(x) for x in ${expression}]))`;
    const printed = execFileSync(python, ['-c', code], { input: JSON.stringify(given), encoding: 'utf8' });
    return z.array(z.number()).parse(JSON.parse(printed));
  }

  function expectClose(ours: readonly (number | null)[], theirs: readonly number[], tolerance = 1e-9): void {
    expect(ours).toHaveLength(theirs.length);
    expect(theirs.length).toBeGreaterThan(0);
    ours.forEach((value, index) => {
      const other = theirs[index] ?? Number.NaN;
      expect(Math.abs((value ?? Number.NaN) - other), `${value} and ${other}`).toBeLessThanOrEqual(
        tolerance * Math.max(1, Math.abs(other)),
      );
    });
  }

  it("the quantiles of Student's and the normal distribution are the same", () => {
    const asked = [0.6, 0.9, 0.95, 0.975, 0.995, 0.9999].flatMap((p) =>
      [1, 2, 3, 4, 7, 9, 20, 63, 500, 1000].map((freedom) => [p, freedom] as const),
    );
    expectClose(
      asked.map(([p, freedom]) => studentQuantile(p, freedom)),
      calculate(asked, '[stats.t.ppf(p, f) for p, f in given]'),
    );
    const places = [-7.9, -5, -2.5, -1, -0.1, 0, 0.3, 1.96, 4, 7.9];
    expectClose(places.map(normalCdf), calculate(places, '[stats.norm.cdf(x) for x in given]'), 1e-14);
  });

  it("Wilson's intervals are the same", () => {
    const asked = [1, 2, 3, 8, 20, 100].flatMap((runs) =>
      [0, 1, Math.floor(runs / 2), runs].map((successes) => [successes, runs] as const),
    );
    const intervals = asked.map(([successes, runs]) => wilsonInterval(successes, runs));
    expectClose(
      intervals.flatMap(({ low, high }) => [low, high]),
      calculate(
        asked,
        "[x for k, n in given for x in stats.binomtest(k, n).proportion_ci(0.95, method='wilson')]",
      ),
    );
  });

  it("Kendall's tau-b is the same, with and without ties", () => {
    const rankings = [3, 10, 50].flatMap((count) => {
      const [x, y] = [numbers(count, count), numbers(count, count + 1)];
      const tied = (values: readonly number[]) => values.map((value) => Math.floor(value * 4));
      return [[x, y] as const, [tied(x), tied(y)] as const, [x, tied(x)] as const];
    });
    expectClose(
      rankings.map(([x, y]) => kendallTauB(x.map((value, index) => [value, y[index] ?? 0]))),
      calculate(rankings, '[stats.kendalltau(x, y).statistic for x, y in given]'),
    );
  });

  it('quantiles, spreads and interquartile means are the same', () => {
    const samples = [1, 2, 3, 4, 7, 20].map((count) => numbers(count, count + 5));
    const shares = [0, 0.025, 0.25, 0.5, 0.9, 1];
    expectClose(
      samples.flatMap((values) => {
        const sorted = values.toSorted((a, b) => a - b);
        return [interquartileMean(values), ...shares.map((share) => quantileOfSorted(sorted, share))];
      }),
      calculate(
        { samples, shares },
        "[x for s in given['samples'] for x in [stats.trim_mean(s, 0.25), *np.quantile(s, given['shares'])]]",
      ),
    );
    const two = samples.filter(({ length }) => length > 1);
    expectClose(two.map(sampleStandardDeviation), calculate(two, '[np.std(s, ddof=1) for s in given]'));
  });

  it('bootstrap distributions and expanded percentile intervals are the same except for chance', () => {
    const values = numbers(9, 3);
    const interval = bootstrapInterval(
      resampleInterquartileMean([values], 20_000, randomOf('scipy')),
      [9],
      0.95,
    );
    const theirs = calculate(
      values,
      `np.quantile(
        stats.trim_mean(np.random.default_rng(1).choice(given, (20000, 9)), 0.25, axis=1),
        (lambda tail: [tail, 1 - tail])(stats.norm.cdf(-np.sqrt(9 / 8) * stats.t.ppf(0.975, 8))))`,
    );
    expectClose([interval?.low ?? null, interval?.high ?? null], theirs, 0.01);
  });

  it("Student's and Welch's intervals are the same, and those of a median", () => {
    const [a, b] = [numbers(4, 11), numbers(6, 12)];
    const one = meanInterval([a], 0.95);
    const difference = meanDifferenceInterval([a], [b], 0.95);
    const median = medianInterval(numbers(15, 13), 0.95);
    expectClose(
      [one?.low ?? null, one?.high ?? null, median?.low ?? null, median?.high ?? null],
      calculate(
        { a, many: numbers(15, 13) },
        `[*stats.t.interval(0.95, 3, np.mean(given['a']), stats.sem(given['a'])),
          *[x for x in stats.quantile_test(given['many'], q=0, p=0.5).confidence_interval(0.95)]]`,
      ),
    );
    // Between whole degrees of freedom, ours is interpolated.
    expectClose(
      [difference?.low ?? null, difference?.high ?? null],
      calculate([a, b], '[*stats.ttest_ind(*given, equal_var=False).confidence_interval(0.95)]'),
      0.005,
    );
  });

  it('permutation tests are the same except for chance', () => {
    const pairs = [
      [numbers(5, 1), numbers(6, 2).map((value) => value + 0.35)],
      [numbers(4, 3), numbers(4, 4)],
    ] as const;
    expectClose(
      pairs.map(([a, b]) => permutationTest([{ a, b }], new Exchanges(20_000))),
      calculate(
        pairs,
        "[stats.permutation_test((a, b), lambda x, y, axis: abs(np.mean(x, axis=axis) - np.mean(y, axis=axis)), n_resamples=np.inf, vectorized=True, alternative='greater').pvalue for a, b in given]",
      ),
      0.01,
    );
  });
});
