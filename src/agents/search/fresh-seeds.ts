import type { NoiseTest } from './noise-test.ts';

/**
 * A number whose name or call says that it is a seed: `seed=0`, `RANDOM_STATE = 42`, `manual_seed(1)`, `"--seed",
 * default=3`.
 */
const seeds =
  /(?<before>\b\w*(?:seed|random_state)\b["']?(?:\s*:\s*int)?\s*(?:=(?!=)|:)\s*|\b(?:manual_seed(?:_all)?|set_seed|seed_everything|seed|default_rng|RandomState|PRNGKey)\(\s*|["']--?\w*seed["'][^\n]{0,500}?\bdefault\s*=\s*)(?<digits>\d{1,9})\b/gi;

/** A seed that is given from outside: `SEED = int(os.environ.get("SEED", "0"))`. */
const givenSeeds = /\b\w*seed(?:\s*:\s*int)?\s*=\s*int\((?:[^()\n]|\([^()\n]*\))*\)/gi;

/**
 * A script with every seed in it raised, so that its score is a new draw; unchanged if it has no seeds. Only for
 * measuring: such a script is never submitted.
 */
export function withFreshSeeds(source: string, raisedBy: number): string {
  return source
    .replace(seeds, (_, before: string, digits: string) => `${before}${Number(digits) + raisedBy}`)
    .replace(givenSeeds, (seed) => `${seed} + ${raisedBy}`);
}

/**
 * The selection runs two versions on fresh seeds: the search has used the starter's own and the next one. Budget is saved
 * for the least number of rounds.
 */
export const rounds = { first: 2, least: 2, most: 5 };
/** The share of the whole budget that the selection may use in total. */
export const selectionShare = 0.25;

export interface FreshRuns {
  /** The scores of the reference and of the best version in each round. */
  pairs: [number, number][];
  gains: number[];
  hasFailed: boolean;
  /** Whether the best version is better by more than the noise. */
  isBetter: boolean;
}

/**
 * Compares the best version with a reference on seeds that chose nothing; null if nothing could be measured. `measure`
 * gives a score, or null if the run says nothing. Without the reference's score, nothing can be compared.
 */
export async function onFreshSeeds(
  noiseTest: NoiseTest,
  mayRun: (done: number) => boolean,
  measure: (isBest: boolean, raisedBy: number) => Promise<number | 'failed' | null>,
): Promise<FreshRuns | null> {
  const pairs: [number, number][] = [];
  let hasFailed = false;
  while (!hasFailed && pairs.length < rounds.most && mayRun(pairs.length)) {
    const raisedBy = rounds.first + pairs.length;
    const reference = await measure(false, raisedBy);
    if (typeof reference !== 'number') break;
    const score = await measure(true, raisedBy);
    if (score === null) break;
    if (score === 'failed') hasFailed = true;
    else pairs.push([reference, score]);
  }
  if (pairs.length === 0 && !hasFailed) return null;
  const gains = pairs.map(([reference, score]) => noiseTest.gain(score, reference));
  return { pairs, gains, hasFailed, isBetter: !hasFailed && noiseTest.isBeyondNoise(gains) };
}
