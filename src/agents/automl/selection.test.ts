import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Execution,
  FakeEnvironment,
  type FakeEnvironmentSettings,
} from '../../../test/fakes/fake-environment.ts';
import { withoutAlarm } from '../../../test/fakes/without-alarm.ts';
import { sha256 } from '../../lib/hash.ts';
import type { AgentOptions } from '../../schema/index.ts';
import { NoiseTest } from '../search/noise-test.ts';
import { automl } from './automl.ts';

const starter = 'SEED = 0\nlr = 1.0\nalpha = 0.1\nmax_depth = 4\n';
const metric = { name: 'MAE', unit: 'units', direction: 'minimize' } as const;

function numberIn(source: string, name: string): number {
  return Number(new RegExp(`^${name} = (\\S+)$`, 'm').exec(source)?.[1]);
}

/** `execute` gets the number of earlier runs. */
async function runAgent(
  execute: (source: string, run: number) => Execution,
  settings: Partial<FakeEnvironmentSettings> = {},
  options: AgentOptions = {},
) {
  let runs = 0;
  const environment = new FakeEnvironment({
    files: { 'train.py': starter, 'submission.csv': '' },
    steps: 200,
    execute: (source) => execute(withoutAlarm(source), runs++),
    ...settings,
  });
  const numbersAlone = { rewrites: false, models: false, ...options };
  await automl.run({ environment, seed: 0, options: numbersAlone, reference: null });
  return environment;
}

const printing = (score: number, source: string): Execution => ({
  output: `validation MAE: ${score}`,
  exitCode: 0,
  seconds: 1,
  writes: { 'submission.csv': source },
});

/** A number in [0, 1) derived from a text. */
const chance = (text: string) => Number.parseInt(sha256(text).slice(0, 8), 16) / 2 ** 32;

describe('the selection', () => {
  it('returns to the starter if a version was better only on the two seeds of the search', async () => {
    const execute = (source: string) => {
      const isLucky = numberIn(source, 'SEED') < 2 && source.replace(/SEED = \d/, 'SEED = 0') !== starter;
      return printing(100 + numberIn(source, 'SEED') - (isLucky ? 20 : 0), source);
    };
    const environment = await runAgent(execute);
    expect(environment.finalAnswer).toContain('so version 0 stays');
    expect(withoutAlarm(environment.selected.files.get('train.py') ?? '')).toBe(starter);
    expect(environment.selected.files.get('submission.csv')).toBe(starter);
  });

  it("keeps a version that is better on fresh seeds too, and leaves it with the starter's seeds", async () => {
    const execute = (source: string) => {
      const seed = numberIn(source, 'SEED');
      return printing(100 + seed + 10 * Math.abs(Math.log10(numberIn(source, 'lr') / 0.01)), source);
    };
    const environment = await runAgent(execute);
    const best = withoutAlarm(environment.selected.files.get('train.py') ?? '');
    expect(numberIn(best, 'lr')).toBeLessThan(0.1);
    expect(numberIn(best, 'SEED')).toBe(0);
    expect(environment.selected.files.get('submission.csv')).toBe(best);
    expect(environment.finalAnswer).toMatch(/scored 10\d, 10\d[^;]*; version 0 122, 123/);
    const seeds = new Set(environment.executed.map((source) => numberIn(source, 'SEED')));
    expect([...seeds].slice(0, 4)).toEqual([0, 1, 2, 3]);
  });

  it('drops a version that fails on a fresh seed', async () => {
    const execute = (source: string): Execution => {
      const isChanged = source.replace(/SEED = \d/, 'SEED = 0') !== starter;
      const seed = numberIn(source, 'SEED');
      if (isChanged && seed === 3) return { output: 'Traceback', exitCode: 1, seconds: 1 };
      return printing(100 + seed - (isChanged ? 20 : 0), source);
    };
    const environment = await runAgent(execute);
    expect(withoutAlarm(environment.selected.files.get('train.py') ?? '')).toBe(starter);
    expect(environment.selected.files.get('submission.csv')).toBe(starter);
  });

  it('reserves budget, so that even a short run measures on two fresh seeds', async () => {
    const execute = (source: string) =>
      printing(100 + numberIn(source, 'SEED') + 10 * Math.log10(numberIn(source, 'lr') * 10) ** 2, source);
    for (const settings of [{ steps: 50 }, { seconds: 40 }]) {
      const environment = await runAgent(execute, settings);
      expect(environment.finalAnswer).toMatch(/In fresh runs version \d+ scored [\d.]+(?:,| and) [\d.]+/);
      expect(environment.results.at(-1)?.budget.seconds_left).toBeGreaterThan(0);
    }
  });

  it('is not needed if the script always has the same score', async () => {
    const environment = await runAgent((source) => printing(10 + numberIn(source, 'alpha'), source));
    expect(environment.finalAnswer).not.toContain('fresh');
    expect(numberIn(withoutAlarm(environment.selected.files.get('train.py') ?? ''), 'alpha')).toBeLessThan(
      0.1,
    );
  });

  it('accepts few versions that differ only by luck, and far fewer than the search alone', async () => {
    const games = 100;
    const changed = { selected: 0, unselected: 0 };
    for (let game = 0; game < games; game += 1) {
      const execute = (source: string, run: number) => printing(100 + chance(`${game}/${run}`) * 10, source);
      const selected = await runAgent(execute, { steps: 60 });
      const unselected = await runAgent(execute, { steps: 60 }, { select: false });
      if (withoutAlarm(selected.selected.files.get('train.py') ?? '') !== starter) changed.selected += 1;
      if (withoutAlarm(unselected.selected.files.get('train.py') ?? '') !== starter) changed.unselected += 1;
    }
    expect(changed.selected / games).toBeLessThan(0.25);
    expect(changed.unselected / games).toBeGreaterThan(0.5);
  });

  it('never submits what a failed run left incomplete', async () => {
    const execute = (source: string): Execution =>
      source.replace(/SEED = \d/, 'SEED = 0') === starter
        ? printing(100 + numberIn(source, 'SEED'), source)
        : { output: 'Traceback', exitCode: 1, seconds: 1, writes: { 'submission.csv': 'torn' } };
    for (const steps of [5, 12, 200]) {
      const environment = await runAgent(execute, { steps });
      expect(environment.selected.files.get('submission.csv')).toBe(starter);
    }
  });
});

describe('the rule of the selection', () => {
  const noiseTest = new NoiseTest(metric, { first: 100, second: 104 }, 'other seeds', false);

  it('requires a mean gain above its standard error that is worth a change', () => {
    expect(noiseTest.isBeyondNoise([3, 1])).toBe(true);
    expect(noiseTest.isBeyondNoise([3, -1])).toBe(false);
    expect(noiseTest.isBeyondNoise([0.05, 0.05])).toBe(false);
    expect(noiseTest.isBeyondNoise([5, 5, -5, 5])).toBe(false);
    expect(noiseTest.isBeyondNoise([5, 5, 0, 5])).toBe(true);
    // One gain alone must exceed the threshold of the search, here 2.
    expect(noiseTest.isBeyondNoise([1.9])).toBe(false);
    expect(noiseTest.isBeyondNoise([2.1])).toBe(true);
    expect(noiseTest.isBeyondNoise([])).toBe(false);
  });

  it('never chooses a version that was not better on average; of two gains, both must be positive', () => {
    const gains = fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(gains, (each) => {
        const mean = each.reduce((sum, gain) => sum + gain, 0) / each.length;
        if (mean <= 0.1) expect(noiseTest.isBeyondNoise(each)).toBe(false);
        if (each.length === 2 && mean > 0.2 && Math.min(...each.map(Math.abs)) > 0.01)
          expect(noiseTest.isBeyondNoise(each)).toBe(Math.min(...each) > 0);
      }),
    );
  });
});
