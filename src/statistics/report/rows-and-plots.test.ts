import { describe, expect, it } from 'vitest';
import { accuracy, evaluation } from '../../../test/fixtures/evaluations.ts';
import { buildReport } from './build-report.ts';

const options = { resamples: 500 };

/** So many runs of an agent on a task, the first of them successes. */
const runsOf = (agent: string, task: string, successes: number, runs: number, money = 1) =>
  Array.from({ length: runs }, (_, seed) =>
    evaluation({ agent, task, seed, money, scores: [0.5, seed < successes ? 0.8 : 0.52] }),
  );

describe("an agent's row", () => {
  const report = buildReport([...runsOf('a', 'digits', 4, 4), ...runsOf('a', 'ecoli', 1, 8)], options);
  const [row] = report.rows;

  it('gives each task the same weight, however many runs it has', () => {
    expect(row?.success).toMatchObject({ tasks: 2, mean: (1 + 1 / 8) / 2 });
    expect(row?.runs).toBe(12);
    expect(row?.improvement?.mean).toBeCloseTo((0.6 + 0.6 / 8 + 0.04 * (7 / 8)) / 2, 9);
  });

  it('has pass@k for each k for which every task has enough runs', () => {
    expect(row?.pass_at.map(({ k }) => k)).toEqual([1, 2, 4]);
    expect(row?.pass_at[1]?.value).toBeCloseTo((1 + 1 - (7 * 6) / (8 * 7)) / 2, 12);
  });

  it('has the interquartile mean of all normalised scores', () => {
    // Sorted: seven of 0.05 and five of 0.75; three are cut at each end.
    expect(row?.normalised_iqm?.value).toBeCloseTo((4 * 0.05 + 2 * 0.75) / 6, 9);
  });

  it('says how many runs each mean is based on', () => {
    const end = { reason: 'infrastructure_error', cause: null, message: '' } as const;
    const failure = { scores: [], end, scoring_reference: null };
    const [some] = buildReport(
      [...runsOf('a', 'digits', 2, 2), ...[7, 8].map((seed) => evaluation({ agent: 'a', seed, ...failure }))],
      options,
    ).rows;
    expect(some?.success).toMatchObject({ tasks: 1, runs: 4 });
    expect(some?.significant).toMatchObject({ tasks: 1, runs: 2 });
    expect(some?.normalised).toMatchObject({ tasks: 1, runs: 2 });
    expect(some?.improvement_of_all).toMatchObject({ tasks: 1, runs: 4 });
  });

  it('has no interval of a mean if a task has a single run', () => {
    const [single] = buildReport(
      [...runsOf('a', 'digits', 1, 1), ...runsOf('a', 'ecoli', 1, 8)],
      options,
    ).rows;
    expect(single?.normalised?.interval).toBeNull();
    expect(single?.success?.interval).not.toBeNull();
  });
});

describe('comparisons', () => {
  it('call a clear difference beyond noise, and an accidental one not', () => {
    const runs = [
      ...['digits', 'ecoli'].flatMap((task) => [
        ...runsOf('bad', task, 0, 8),
        ...runsOf('good', task, 8, 8),
        ...runsOf('nearly', task, 7, 8),
      ]),
    ];
    const { comparisons } = buildReport(runs, { resamples: 2000 });
    const verdict = (a: string, b: string) =>
      comparisons.find((one) => one.a === a && one.b === b)?.differences.success;
    expect(comparisons).toHaveLength(3);
    expect(verdict('bad', 'good')).toMatchObject({ tasks: 2, value: -1, beyond_noise: true });
    expect(verdict('good', 'nearly')).toMatchObject({ value: 0.125, beyond_noise: false });
    expect(verdict('bad', 'good')?.interval?.high).toBeGreaterThan(-0.8);
    for (const { differences } of comparisons) {
      expect(Object.keys(differences)).toEqual(['success', 'normalised', 'superiority']);
      for (const { p, p_corrected } of Object.values(differences))
        expect(p_corrected).toBeGreaterThanOrEqual(p);
    }
  });

  it('can be beyond noise however many agents there are', () => {
    const agents = Array.from({ length: 16 }, (_, index) => `agent-${index}`);
    const runs = agents.flatMap((agent, index) => runsOf(agent, 'digits', index < 8 ? 0 : 10, 10));
    const { comparisons } = buildReport(runs, options);
    expect(comparisons).toHaveLength(120);
    const beyond = comparisons.filter(({ differences }) => differences.success?.beyond_noise === true);
    expect(beyond).toHaveLength(64);
  });

  it('are made on the tasks that both agents have, and omitted if there are none', () => {
    const runs = [
      ...runsOf('a', 'digits', 1, 2),
      ...runsOf('a', 'ecoli', 1, 2),
      ...runsOf('b', 'ecoli', 1, 2),
    ];
    const { comparisons } = buildReport([...runs, ...runsOf('c', 'esol', 1, 2)], options);
    expect(comparisons.map(({ a, b, tasks }) => [a, b, tasks])).toEqual([['a', 'b', ['ecoli']]]);
  });
});

describe('data for plots', () => {
  it('contain the improvement over steps, in which an invalid submission counts as 0', () => {
    const runs = [
      evaluation({ seed: 0, scores: [0.6, null, 0.7] }),
      evaluation({ seed: 1, scores: [0.6, 0.6, 0.6] }),
      evaluation({ seed: 2, scores: [0.6, 0.65, 0.8] }),
    ];
    const { curves } = buildReport(runs, options);
    expect(curves.map(({ axis }) => axis)).toEqual(['steps', 'seconds', 'tokens', 'money']);
    const [steps] = curves;
    expect(steps?.at).toEqual([0, 1, 2, 3]);
    expect(steps?.median.map((value) => value.toFixed(6))).toEqual([
      ...['0.000000', '0.200000', '0.200000', '0.400000'],
    ]);
    expect(steps?.low[2]).toBeCloseTo(0.1, 12);
    expect(steps?.area).toBeCloseTo((0.2 + 0 + 0.4 + 3 * 0.2 + 0.2 + 0.3 + 0.6) / 9, 12);
  });

  it('have no curve over money if a price is unknown, and none if steps were not graded', () => {
    const unknown = buildReport([evaluation({ money: null, scores: [0.6, 0.7] })], options);
    expect(unknown.curves.map(({ axis }) => axis)).toEqual(['steps', 'seconds', 'tokens']);
    expect(buildReport([{ ...evaluation(), steps: 9 }], options).curves).toEqual([]);
  });

  it('mark the agents that no other agent beats in cost and success', () => {
    const runs = [
      ...runsOf('cheap', 'digits', 1, 4, 0.1),
      ...runsOf('dear', 'digits', 4, 4, 5),
      ...runsOf('waste', 'digits', 1, 4, 6),
    ];
    const { frontiers } = buildReport(runs, options);
    const whole = frontiers.find(({ task, cost }) => task === null && cost === 'money');
    expect(whole?.points.map(({ agent, on_frontier }) => [agent, on_frontier])).toEqual([
      ['cheap', true],
      ['dear', true],
      ['waste', false],
    ]);
  });

  it('have profiles that never rise and stay in their bands', () => {
    const runs = [0.4, 0.55, 0.7, 0.95].map((score, seed) => evaluation({ seed, scores: [score] }));
    const [profile] = buildReport(runs, options).profiles;
    const { levels = [], share = [], low = [], high = [] } = profile ?? {};
    expect(share[levels.indexOf(0)]).toBe(0.75);
    expect(share[levels.indexOf(1)]).toBe(0.25);
    share.forEach((value, index) => {
      expect(value).toBeLessThanOrEqual(share[index - 1] ?? 1);
      expect(low[index]).toBeLessThanOrEqual(value);
      expect(high[index]).toBeGreaterThanOrEqual(value);
    });
  });

  it('have a heat map of tasks by agents, empty where an agent has no runs', () => {
    const { heat_map } = buildReport(
      [...runsOf('a', 'digits', 1, 2), ...runsOf('b', 'ecoli', 2, 2)],
      options,
    );
    expect(heat_map.success).toEqual([
      [0.5, null],
      [null, 1],
    ]);
  });

  it('leave out scores that cannot be normalised', () => {
    const report = buildReport(
      [evaluation({ scoring_reference: { ...accuracy, reference: null } })],
      options,
    );
    expect(report.profiles).toEqual([]);
    expect(report.pairs[0]?.normalised).toBeNull();
    expect(report.rows[0]?.normalised_iqm).toBeNull();
  });
});
