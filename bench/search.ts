import { agentByName } from '../src/agents/index.ts';
import { mean, sampleStandardDeviation } from '../src/statistics/index.ts';
import { FakeEnvironment } from '../test/fakes/fake-environment.ts';
import type { Benchmark, Measurement } from './benchmark.ts';
import { hashed, normal } from './draws.ts';
import { Surface, type SurfaceWanted } from './search/surfaces.ts';

const searches = ['climb', 'random'] as const;
type Search = (typeof searches)[number];

/** In run times of the starter. */
const budgets = [15, 40, 100] as const;

/** The regret of one surface, a search and a budget: the mean of its seeds. */
type Regrets = Record<Search, number>;

export const search: Benchmark = {
  name: 'search',
  summary: "automl's searches on made-up scripts, at equal simulated time",
  async measure({ quick, log }) {
    const surfaces = wantedSurfaces(quick ? 1 : 6);
    const measurements: Measurement[] = [];
    for (const budget of budgets.slice(quick ? 2 : 0)) {
      log(`${surfaces.length} scripts, ${budget} times the starter's time`);
      const rows: { wanted: SurfaceWanted; regrets: Regrets }[] = [];
      for (const wanted of surfaces)
        rows.push({ wanted, regrets: await regretsOf(wanted, budget, quick ? 1 : 4) });
      measurements.push(
        ...regretMeasurements(
          `${budget} runs`,
          rows.map(({ regrets }) => regrets),
        ),
      );
      if (budget !== 40) continue;
      for (const [what, belongs] of groups)
        measurements.push(
          ...regretMeasurements(
            `${budget} runs, ${what}`,
            rows.filter(({ wanted }) => belongs(wanted)).map(({ regrets }) => regrets),
          ),
        );
    }
    return measurements;
  },
};

const groups: readonly (readonly [string, (wanted: SurfaceWanted) => boolean])[] = [
  ['1 to 3 numbers', ({ knobs }) => knobs <= 3],
  ['5 numbers', ({ knobs }) => knobs === 5],
  ['10 numbers', ({ knobs }) => knobs === 10],
  ['exact', ({ noise }) => noise === 0],
  ['noisy', ({ noise }) => noise > 0],
  ['each for itself', ({ interacts }) => !interacts],
  ['together', ({ interacts }) => interacts],
  ['crashes', ({ crashes }) => crashes],
  ['fast', ({ seconds }) => seconds < 2],
];

/** Every combination of difficulties for a search, `each` times. */
function wantedSurfaces(each: number): SurfaceWanted[] {
  const wanted: SurfaceWanted[] = [];
  for (const knobs of [1, 3, 5, 10]) {
    for (const noise of [0, 0.05]) {
      for (const interacts of knobs === 1 ? [false] : [false, true]) {
        for (let count = 0; count < each; count += 1) {
          const seed = wanted.length;
          const [crashes, seconds] = [count % 3 === 1, count % 3 === 2 ? 1 : 20];
          wanted.push({ seed, knobs, noise, interacts, crashes, seconds });
        }
      }
    }
  }
  return wanted;
}

async function regretsOf(wanted: SurfaceWanted, budget: number, seeds: number): Promise<Regrets> {
  const surface = new Surface(wanted, hashed(`surface ${wanted.seed}`));
  const regrets: Regrets = { climb: 0, random: 0 };
  for (const each of searches) {
    for (let seed = 0; seed < seeds; seed += 1)
      regrets[each] += (await regretOf(surface, each, budget, seed)) / seeds;
  }
  return regrets;
}

/** Runs the whole agent, with a clock that only the script moves, and scores its final script without noise. */
async function regretOf(surface: Surface, search: Search, budget: number, seed: number): Promise<number> {
  const noise = (key: string) => normal(hashed(`noise ${surface.wanted.seed} ${key}`));
  const environment = new FakeEnvironment({
    files: { 'train.py': surface.source, 'submission.csv': '' },
    steps: 100_000,
    seconds: budget * surface.wanted.seconds,
    execute(source) {
      const { score, crashed, seconds } = surface.run(source, noise);
      const output = crashed ? 'MemoryError' : `validation MAE: ${score}`;
      return { output, exitCode: crashed ? 1 : 0, seconds, writes: { 'submission.csv': 'x' } };
    },
  });
  const options = { search, max_tries: 100_000, models: false, rewrites: false };
  await agentByName('automl').run({ environment, seed, options, reference: null });
  return surface.run(environment.selected.files.get('train.py') ?? '', noise).regret;
}

function regretMeasurements(what: string, regrets: readonly Regrets[]): Measurement[] {
  const own = searches.map((each) => {
    const [middle, half] = interval(regrets.map((of) => of[each]));
    return {
      what: `${what}: regret of ${each}`,
      value: middle,
      unit: '',
      atMost: null,
      note: `± ${half.toFixed(3)}`,
    };
  });
  const [middle, half] = interval(regrets.map(({ climb, random }) => climb - random));
  const note = `± ${half.toFixed(3)}, ${regrets.length} scripts`;
  return [...own, { what: `${what}: climb less random`, value: middle, unit: '', atMost: 0, note }];
}

/** Mean, and half the width of its 95 % interval over scripts. */
function interval(values: readonly number[]): [number, number] {
  const half = values.length < 2 ? 0 : (1.96 * sampleStandardDeviation(values)) / Math.sqrt(values.length);
  return [mean(values), half];
}
