import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeEnvironment } from '../../../test/fakes/fake-environment.ts';
import { seededRandom } from '../common/seeded-random.ts';
import { automl } from './automl.ts';
import { findKnobs, type Knob } from './knobs.ts';
import { literalOf } from './scales.ts';
import type { Ending, IsAffordable, Proposal } from './strategy.ts';
import { TreeParzenSearch } from './tpe.ts';

const lines = [
  ...['lr = 0.1', 'dropout = 0.0', 'epochs = 8', 'max_depth = 1', 'subsample = 1.0', 'alpha = 1'],
  ...['weight_decay = 0.0', 'momentum = 0.9', 'batch_size = 32', 'beta1 = 0.9999', 'degree = 1'],
];
const anyKnobs = fc.subarray(lines).map((some) => findKnobs(`${some.join('\n')}\n`));
const told = fc.record({
  ending: fc.constantFrom<Ending>('kept', 'put back', 'without effect'),
  loss: fc.option(fc.double()),
});
const anyEndings = fc.array(told, { minLength: 1, maxLength: 30 });

/** Asks and tells so many times, and gives all proposals. */
function searched(
  knobs: readonly Knob[],
  seed: number,
  endings: readonly { ending: Ending; loss: number | null }[],
  isAffordable: IsAffordable = () => true,
  tries = 60,
): Proposal[] {
  const search = new TreeParzenSearch(knobs, seededRandom(seed));
  const proposals: Proposal[] = [];
  for (let count = 0; count < tries; count += 1) {
    const proposal = search.next(isAffordable);
    if (proposal === null) break;
    proposals.push(proposal);
    const { ending, loss } = endings[count % endings.length] ?? { ending: 'put back', loss: null };
    // A failure is never kept.
    const sound = loss === null ? 'put back' : ending;
    search.tell(proposal, proposal.isScout === true ? 'scouted' : sound, loss);
  }
  return proposals;
}

const keys = (proposals: readonly Proposal[]) => proposals.map(({ values }) => values.join(' '));

describe('the search by Parzen estimators', () => {
  it('proposes nothing twice, nor the starter, and only values that can stand in the script, whatever it is told', () => {
    fc.assert(
      fc.property(anyKnobs, fc.nat(), anyEndings, (knobs, seed, endings) => {
        const proposals = searched(knobs, seed, endings);
        const all = [knobs.map(({ value }) => value).join(' '), ...keys(proposals)];
        expect(new Set(all).size).toBe(all.length);
        for (const { values } of proposals) {
          expect(values).toHaveLength(knobs.length);
          for (const [place, knob] of knobs.entries()) {
            const value = values[place] ?? Number.NaN;
            expect(value).toBeGreaterThanOrEqual(Math.min(knob.prior.least, knob.value));
            expect(value).toBeLessThanOrEqual(Math.max(knob.prior.most, knob.value));
            expect(Number(literalOf(knob, value))).toBe(value);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it('follows from the seed and from what it was told alone', () => {
    fc.assert(
      fc.property(anyKnobs, fc.nat(), anyEndings, (knobs, seed, endings) => {
        expect(searched(knobs, seed, endings)).toEqual(searched(knobs, seed, endings));
      }),
      { numRuns: 15 },
    );
    const knobs = findKnobs(`${lines.join('\n')}\n`);
    const failure = [{ ending: 'put back' as const, loss: null }];
    expect(searched(knobs, 1, failure)).not.toEqual(searched(knobs, 2, failure));
  });

  it('proposes only what can be afforded, and ends where nothing can', () => {
    fc.assert(
      fc.property(anyKnobs, fc.nat(), anyEndings, fc.nat(9), (knobs, seed, endings, most) => {
        const isAffordable: IsAffordable = (values) =>
          values.reduce((sum, value) => sum + value, 0) < 45 + most;
        expect(searched(knobs, seed, endings, isAffordable).every(({ values }) => isAffordable(values))).toBe(
          true,
        );
        expect(searched(knobs, seed, endings, () => false)).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  it('does not count on several numbers at once to make a script faster', () => {
    const knobs = findKnobs('lr = 0.1\nmax_depth = 8\nhidden_size = 64\n');
    const half: IsAffordable = ([, depth = 0, width = 0]) => depth * width <= 8 * 32;
    const proposals = searched(knobs, 0, [{ ending: 'put back', loss: 2 }], half);
    const several = proposals.filter(
      ({ values }) => values.filter((value, place) => value !== knobs[place]?.value).length > 1,
    );
    expect(proposals.length).toBeGreaterThan(several.length);
    expect(several).toEqual([]);
  });

  it('survives that everything fails, and has nothing to say of a script without numbers', () => {
    const failure = [{ ending: 'put back' as const, loss: null }];
    expect(searched(findKnobs(`${lines.join('\n')}\n`), 0, failure).length).toBe(60);
    expect(searched([], 0, failure)).toEqual([]);
    const depths = searched(findKnobs('max_depth = 63\n'), 0, failure, ([depth = 0]) => depth > 60);
    expect(depths.map(({ values }) => values[0])).toEqual(expect.arrayContaining([62, 64]));
    expect(depths.length).toBeLessThanOrEqual(3);
  });

  it('screens each number by itself before it changes several at once', () => {
    const knobs = findKnobs('lr = 0.1\nmax_depth = 8\nmomentum = 0.5\n');
    const counts = searched(knobs, 3, [{ ending: 'put back', loss: 2 }]).map(
      ({ values }) => values.filter((value, place) => value !== knobs[place]?.value).length,
    );
    expect(counts.slice(0, 6)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(Math.max(...counts)).toBe(3);
  });

  it('does not draw a number anew that alone changes nothing', () => {
    const knobs = findKnobs('lr = 0.1\nmomentum = 0.5\n');
    const search = new TreeParzenSearch(knobs, seededRandom(0));
    const several: Proposal[] = [];
    for (let count = 0; count < 40; count += 1) {
      const proposal = search.next(() => true);
      if (proposal === null) break;
      const [rate, momentum] = proposal.values;
      if (rate !== 0.1 && momentum !== 0.5) several.push(proposal);
      search.tell(proposal, rate === 0.1 ? 'without effect' : 'put back', rate === 0.1 ? 1 : 2);
    }
    expect(several).toEqual([]);
  });
});

describe('scouts', () => {
  const knobs = findKnobs('lr = 0.1\nepochs = 8\nmomentum = 0.5\n');
  const lossOf = ([rate = 0, , momentum = 0]: readonly number[]) =>
    Math.abs(Math.log10(rate) + 1.3) + momentum;

  function run(seconds: number): Proposal[] {
    const search = new TreeParzenSearch(knobs, seededRandom(1), [], seconds);
    return Array.from({ length: 60 }, () => {
      const proposal = search.next(() => true) ?? expect.fail('it ended too soon');
      search.tell(proposal, proposal.isScout === true ? 'scouted' : 'put back', lossOf(proposal.values));
      return proposal;
    });
  }

  it('run with a quarter of the rounds, three in a row, and only the best of them in full', () => {
    const proposals = run(100);
    const first = proposals.findIndex(({ isScout }) => isScout);
    // The first one is the best version itself: what the others must beat.
    const [measure, ...heat] = proposals.slice(first, first + 4);
    expect(measure?.values).toEqual([0.1, 2, 0.5]);
    expect(heat.map(({ isScout, values }) => [isScout, values[1]])).toEqual([
      [true, 2],
      [true, 2],
      [true, 2],
    ]);
    const winner = heat.toSorted((one, other) => lossOf(one.values) - lossOf(other.values))[0]?.values ?? [];
    expect(lossOf(winner)).toBeLessThan(lossOf([0.1, 2, 0.5]));
    expect(proposals[first + 4]).toMatchObject({ values: winner.with(1, 8) });
    expect(proposals[first + 4]).not.toHaveProperty('isScout');
  });

  it('are not sent where the script is short, or has no rounds', () => {
    expect(run(1).filter(({ isScout }) => isScout)).toEqual([]);
    const without = searched(findKnobs('lr = 0.1\nmomentum = 0.5\n'), 0, [{ ending: 'put back', loss: 1 }]);
    expect(without.filter(({ isScout }) => isScout)).toEqual([]);
  });
});

describe('automl with it', () => {
  /** Numbers that matter in pairs, with an optimum off the starter that differs from surface to surface. */
  function regretOf(source: string, surface: number): number {
    const at = (name: string) => Number(new RegExp(`^${name} = (\\S+)$`, 'm').exec(source)?.[1]);
    const way = surface % 2 === 0 ? 1 : -1;
    const rate = Math.log10(at('lr') / 0.1) - way * (0.5 + (surface % 3) / 2);
    const share = Math.log(at('momentum') / (1 - at('momentum'))) + way * (surface % 4) * 0.7;
    const depth = Math.log2(at('max_depth') / 4) - (surface % 5) * 0.3;
    return (rate + (surface % 3 === 0 ? share / 2 : 0)) ** 2 + share ** 2 / 2 + depth ** 2;
  }

  /** As long as its numbers say. */
  const secondsOf = (source: string) =>
    10 *
    (Number(/epochs = (\d+)/.exec(source)?.[1]) / 8) *
    (Number(/max_depth = (\d+)/.exec(source)?.[1]) / 4);

  async function reached(search: string, surface: number, seed: number, seconds = 400) {
    const files = {
      'train.py': 'SEED = 1\nlr = 0.1\nmomentum = 0.5\nmax_depth = 4\nepochs = 8\ngamma = 1.0\nalpha = 1.0\n',
      'submission.csv': '',
    };
    const environment = new FakeEnvironment({
      ...{ files, steps: 2000, seconds },
      execute: (source) => ({
        output: `validation MAE: ${1 + regretOf(source, surface)}`,
        exitCode: 0,
        seconds: secondsOf(source),
        writes: { 'submission.csv': source },
      }),
    });
    await automl.run({
      environment,
      seed,
      options: { search, patience: 1000, models: 'holes' },
      reference: null,
    });
    expect(environment.late).toBe(0);
    return { regret: regretOf(environment.files.get('train.py') ?? '', surface), environment };
  }

  it('beats the random search on most surfaces in the same time', async () => {
    let won = 0;
    for (let surface = 0; surface < 12; surface += 1) {
      const [own, random] = [await reached('tpe', surface, 5), await reached('random', surface, 5)];
      if (own.regret < random.regret) won += 1;
    }
    expect(won).toBeGreaterThanOrEqual(8);
  });

  it('never keeps a scout, and says what it is', async () => {
    const { environment } = await reached('tpe', 3, 5, 2000);
    const scouted = environment.notes.filter(({ Decision }) => Decision?.startsWith('Only its place'));
    expect(scouted.length).toBeGreaterThan(2);
    expect(environment.files.get('submission.csv')).toBe(environment.files.get('train.py'));
  });
});
