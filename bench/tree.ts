import type { AgentOptions } from '../src/schema/index.ts';
import { bootstrapInterval, type Interval, mean, randomOf } from '../src/statistics/index.ts';
import type { BenchContext, Benchmark, Measurement } from './benchmark.ts';
import { type ModelName, modelNames } from './tree/models.ts';
import { Problem, type ProblemWanted } from './tree/problem.ts';
import { simulatedSearch } from './tree/simulated-search.ts';

/**
 * Ways to search with the agent; `one change` is `tree` with one at a time. automl has nothing to say about a
 * simulated script, so it is off in all.
 */
const searches = {
  tree: {},
  aide: { profile: 'aide' },
  'one change': { changes: 1 },
  bandit: { policy: 'bandit' },
  uct: { policy: 'uct' },
  random: { policy: 'random' },
} as const satisfies Record<string, AgentOptions>;
type Search = keyof typeof searches;
const searchNames = [
  'tree',
  'aide',
  'one change',
  'bandit',
  'uct',
  'random',
] as const satisfies readonly Search[];

/** In run times of the starter. */
const budgets = [10, 20, 40] as const;
/** At least a fifth less regret than AIDE's search. */
const mostOfAide = 0.8;
const samples = 2000;

/** The searches of one problem. */
interface Row {
  wanted: ProblemWanted;
  results: readonly { search: Search; model: ModelName; regret: number }[];
}

export const tree: Benchmark = {
  name: 'tree',
  summary: 'the search of the agent tree with simulated models, at equal simulated time and tokens',
  async measure({ quick, log, signal }) {
    const wanted = quick ? wantedProblems(1).slice(0, 2) : wantedProblems(40);
    const measurements: Measurement[] = [];
    for (const budget of budgets.slice(quick ? 2 : 0)) {
      log(`${wanted.length} problems, ${budget} times the starter's time`);
      const rows: Row[] = [];
      for (const each of wanted) rows.push(await measureProblem(each, budget, quick ? 1 : 2, signal));
      measurements.push(...measurementsOf(`${budget} runs`, rows, true));
      if (budget !== 40 || quick) continue;
      for (const [what, belongs] of groups)
        measurements.push(...measurementsOf(`${budget} runs, ${what}`, rows.filter(belongs), false));
    }
    return measurements;
  },
};

const groups: readonly (readonly [string, (row: Row) => boolean])[] = [
  ['exact', ({ wanted }) => wanted.noise === 0],
  ['noise of 5 %', ({ wanted }) => wanted.noise === 0.05],
  ['noise of 15 %', ({ wanted }) => wanted.noise === 0.15],
  ['independent changes', ({ wanted }) => !wanted.interacts],
  ['interacting changes', ({ wanted }) => wanted.interacts],
];

/** Every combination of difficulties for a search, `each` times. */
function wantedProblems(each: number): ProblemWanted[] {
  const wanted: ProblemWanted[] = [];
  for (const noise of [0, 0.05, 0.15])
    for (const interacts of [false, true])
      for (let count = 0; count < each; count += 1)
        wanted.push({ seed: wanted.length, noise, interacts, seconds: count % 2 === 0 ? 60 : 300 });
  return wanted;
}

async function measureProblem(
  wanted: ProblemWanted,
  budget: number,
  seeds: number,
  signal: BenchContext['signal'],
): Promise<Row> {
  const problem = new Problem(wanted);
  const results: Row['results'][number][] = [];
  for (const search of searchNames) {
    for (const model of modelNames) {
      for (let seed = 0; seed < seeds; seed += 1) {
        signal.throwIfAborted();
        const asked = { problem, model, options: searches[search], budget, seed };
        results.push({ search, model, regret: (await simulatedSearch(asked)).regret });
      }
    }
  }
  return { wanted, results };
}

function measurementsOf(what: string, rows: readonly Row[], hasTarget: boolean): Measurement[] {
  const all = rows.map((_, place) => place);
  const plain = (name: string, values: readonly number[]) => ({
    what: `${what}: ${name}`,
    value: mean(values),
    ...{ unit: '', atMost: null, note: rangeText(bootstrapped(rows.length, meanOf(values))) },
  });
  const measured: Measurement[] = [];
  for (const search of searchNames) {
    measured.push(plain(`regret of ${search}`, regretsOf(rows, search)));
    for (const model of hasTarget ? modelNames : [])
      measured.push(plain(`regret of ${search}, ${model} model`, regretsOf(rows, search, model)));
  }
  for (const search of hasTarget ? searchNames : [])
    measured.push(plain(`share of ${search} worse than the starter`, worseOf(rows, search)));
  const [own, aide] = [meanOf(regretsOf(rows, 'tree')), meanOf(regretsOf(rows, 'aide'))];
  const ratio = (drawn: readonly number[]) => own(drawn) / aide(drawn);
  const note = `${rangeText(bootstrapped(rows.length, ratio))}, ${rows.length} problems`;
  const relative = { value: ratio(all), unit: 'times', atMost: hasTarget ? mostOfAide : null, note };
  return [...measured, { what: `${what}: regret of tree relative to aide`, ...relative }];
}

/** The mean regret of each problem. */
function regretsOf(rows: readonly Row[], search: Search, model?: ModelName): number[] {
  return rows.map(({ results }) => {
    const own = results.filter((each) => each.search === search && (model ?? each.model) === each.model);
    return mean(own.map(({ regret }) => regret));
  });
}

/** The share of searches of each problem whose submission is in truth worse than the starter's. */
function worseOf(rows: readonly Row[], search: Search): number[] {
  return rows.map(({ results }) =>
    mean(results.filter((each) => each.search === search).map(({ regret }) => Number(regret > 1 + 1e-9))),
  );
}

/** The mean of the values at the drawn places. */
function meanOf(values: readonly number[]): (drawn: readonly number[]) => number {
  return (drawn) => mean(drawn.map((place) => values[place] ?? 0));
}

/** The 95 % interval of a statistic of problems, of which each sample draws as many as there are. */
function bootstrapped(count: number, statistic: (drawn: readonly number[]) => number): Interval | null {
  const random = randomOf(`tree ${count}`);
  const replicates = Float64Array.from({ length: samples }, () =>
    statistic(Array.from({ length: count }, () => random(count))),
  );
  return bootstrapInterval(replicates, [count], 0.95);
}

function rangeText(interval: Interval | null): string {
  return interval === null ? '' : `${interval.low.toFixed(2)} to ${interval.high.toFixed(2)}`;
}
