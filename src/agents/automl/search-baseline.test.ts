import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeEnvironment, type FakeEnvironmentSettings } from '../../../test/fakes/fake-environment.ts';
import { withoutAlarm } from '../../../test/fakes/without-alarm.ts';
import type { AgentOptions } from '../../schema/index.ts';
import { seededRandom } from '../common/seeded-random.ts';
import { automl } from './automl.ts';
import { findKnobs, type Knob } from './knobs.ts';
import { drawAtRandom } from './random-search.ts';
import { literalOf } from './scales.ts';

const starter = 'SEED = 3\nlr = 1.0\nalpha = 1e-4\nmax_depth = 4\nbatch_size = 32\n';
const manyKnobs = findKnobs(
  `${starter}dropout = 0.0\nepochs = 5\nsubsample = 1.0\nmomentum = 0.9\nweight_decay = 0.0\ndegree = 1\nbeta1 = 0.9999\n`,
);

function numberIn(source: string, name: string): number {
  return Number(new RegExp(`^${name} = (\\S+)$`, 'm').exec(source)?.[1]);
}

/** The effect of the seed: between -1 and 1. */
function luck(source: string): number {
  return Math.sin(numberIn(source, 'SEED') * 77);
}

function score(source: string): number {
  const off = Math.log10(numberIn(source, 'lr') / 0.01) ** 2;
  return 10 + 5 * off + Math.abs(numberIn(source, 'max_depth') - 6) + 0.1 * luck(source);
}

async function runAgent(options: AgentOptions, settings: Partial<FakeEnvironmentSettings> = {}, seed = 0) {
  const environment = new FakeEnvironment({
    files: { 'train.py': starter, 'submission.csv': '' },
    steps: 400,
    seconds: 60,
    execute: (source) => ({
      output: `validation MAE: ${score(source)}`,
      exitCode: 0,
      seconds: 1,
      writes: { 'submission.csv': source },
    }),
    ...settings,
  });
  const numbersAlone = { rewrites: false, models: false, ...options };
  await automl.run({ environment, seed, options: numbersAlone, reference: null });
  expect(environment.taken.at(-1)?.name).toBe('Final Answer');
  expect(environment.late).toBe(0);
  return environment;
}

/** The first draws of a search that tries no version twice. */
function draws(
  knobs: readonly Knob[],
  seed: number,
  count: number,
  isAffordable = (_: readonly number[]) => true,
) {
  const values = knobs.map(({ value }) => value);
  const tried = new Set([values.join()]);
  const mayTry = (each: readonly number[]) => !tried.has(each.join()) && isAffordable(each);
  const search = drawAtRandom({ knobs, values, mayTry }, seededRandom(seed));
  return Array.from({ length: count }, () => {
    const drawn = search.next('dropped').value?.values ?? [];
    tried.add(drawn.join());
    return drawn;
  });
}

describe('the random search', () => {
  it('stays inside the bounds of every number, as written in the script', () => {
    expect(manyKnobs.length).toBe(11);
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const [values = []] = draws(manyKnobs, seed, 1);
        for (const [place, knob] of manyKnobs.entries()) {
          const value = values[place] ?? Number.NaN;
          expect(value).toBeGreaterThanOrEqual(Math.min(knob.prior.least, knob.value));
          expect(value).toBeLessThanOrEqual(Math.max(knob.prior.most, knob.value));
          expect(Number(literalOf(knob, value))).toBe(value);
        }
      }),
    );
  });

  it('draws uniformly on the scale of a number: a rate as often below the starter as above', () => {
    const decades = Array.from({ length: 1000 }, (_, seed) => {
      const [[rate = 0] = []] = draws(findKnobs('lr = 0.01\n'), seed, 1);
      return Math.log10(rate) + 4;
    });
    expect(Math.min(...decades)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...decades)).toBeLessThanOrEqual(4);
    for (const quarter of [0, 1, 2, 3]) {
      const share = decades.filter((decade) => Math.min(Math.floor(decade), 3) === quarter).length / 1000;
      expect(share).toBeGreaterThan(0.2);
      expect(share).toBeLessThan(0.3);
    }
  });

  it('proposes the same versions for the same seed, none twice, and only those that the budget allows', () => {
    const cheap = (values: readonly number[]) => (values[3] ?? 0) > 20;
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const first = draws(manyKnobs, seed, 8, cheap);
        expect(draws(manyKnobs, seed, 8, cheap)).toEqual(first);
        expect(draws(manyKnobs, seed + 1, 8, cheap)).not.toEqual(first);
        expect(new Set(first.map((values) => values.join())).size).toBe(8);
        expect(first.every(cheap)).toBe(true);
      }),
      { numRuns: 30 },
    );
    expect(draws(manyKnobs, 0, 1, () => false)).toEqual([[]]);
    expect(new Set(draws(findKnobs('max_depth = 1\n'), 0, 4).flat())).toEqual(new Set([2, 3]));
  });
});

describe('the search baseline of automl', () => {
  it('searches at random, and keeps improvements by the same noise test', async () => {
    const environment = await runAgent({ search: 'random' });
    const best = withoutAlarm(environment.selected.files.get('train.py') ?? '');
    expect(score(best)).toBeLessThan(score(starter));
    expect(numberIn(best, 'SEED')).toBe(3);
    expect(withoutAlarm(environment.selected.files.get('submission.csv') ?? '')).toBe(best);
    const changed = environment.notes.map((note) => note.Change ?? '').filter((text) => text !== '');
    expect(changed.length).toBeGreaterThan(10);
    // They change more than one number at once.
    expect(changed.filter((text) => text.split('→').length > 2).length).toBeGreaterThan(changed.length / 2);
  });

  it.each(['climb', 'random'])(
    'continues from any recorded prefix as if it had never stopped: %s',
    async (search) => {
      const whole = await runAgent({ search }, {}, 3);
      for (let steps = 0; steps <= whole.results.length; steps += 17) {
        const environment = await runAgent({ search }, { recorded: whole.results.slice(0, steps) }, 3);
        expect(environment.taken.slice(0, steps)).toEqual(whole.taken.slice(0, steps));
      }
      const replayed = await runAgent(
        { search },
        { recorded: whole.results, execute: () => expect.fail('was run again') },
        3,
      );
      expect(replayed.taken).toEqual(whole.taken);
      expect(replayed.notes).toEqual(whole.notes);
    },
  );

  it('stays within any budget', async () => {
    const budgets = fc.record({
      search: fc.constantFrom('climb', 'random'),
      seed: fc.nat(1000),
      steps: fc.integer({ min: 3, max: 80 }),
      seconds: fc.double({ min: 2, max: 60, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(budgets, async ({ search, seed, steps, seconds }) => {
        const environment = await runAgent({ search }, { steps, seconds }, seed);
        const entry = withoutAlarm(environment.selected.files.get('train.py') ?? '');
        expect(withoutAlarm(environment.selected.files.get('submission.csv') ?? '')).toBe(entry);
      }),
      { numRuns: 60 },
    );
  });

  it('gains less than the climb on a smooth script in the same time', async () => {
    const reached = async (search: string) => {
      let sum = 0;
      for (let seed = 0; seed < 10; seed += 1) {
        const environment = await runAgent({ search }, {}, seed);
        sum += score(
          withoutAlarm(environment.selected.files.get('train.py') ?? '').replace(/SEED = \d+/, 'SEED = 3'),
        );
      }
      return sum / 10;
    };
    expect(await reached('climb')).toBeLessThan(await reached('random'));
  });

  it('is refused under any other name', async () => {
    await expect(runAgent({ search: 'grid' })).rejects.toThrow(/one of climb, random, not grid/);
    expect(() => automl.ready?.({ search: 'grid' })).toThrow(/one of/);
  });
});
