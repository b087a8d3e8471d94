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

/** A comparison on seeds that chose nothing. */
export interface FreshComparison {
  /** Whether the best version is better by more than the noise. */
  isBetter: boolean;
  /** In sentences. */
  said: string;
}

/**
 * Compares the best version with a reference in pairs of runs on fresh seeds; null if nothing could be measured. `measure`
 * gives a score, or null if the run says nothing. Without the reference's score, nothing can be compared.
 */
export async function compareOnFreshSeeds<Version extends { id: number }>(
  [reference, best]: readonly [Version, Version],
  noiseTest: NoiseTest,
  mayRun: (done: number) => boolean,
  measure: (version: Version, raisedBy: number) => Promise<number | 'failed' | null>,
): Promise<FreshComparison | null> {
  const scores: [number[], number[]] = [[], []];
  let hasFailed = false;
  while (!hasFailed && scores[0].length < rounds.most && mayRun(scores[0].length)) {
    const raisedBy = rounds.first + scores[0].length;
    const before = await measure(reference, raisedBy);
    if (typeof before !== 'number') break;
    const score = await measure(best, raisedBy);
    if (score === null) break;
    if (score === 'failed') hasFailed = true;
    else for (const [place, each] of [before, score].entries()) scores[place]?.push(each);
  }
  const [before, after] = scores;
  if (before.length === 0 && !hasFailed) return null;
  const isBetter =
    !hasFailed &&
    noiseTest.isBeyondNoise(after.map((score, place) => noiseTest.gain(score, before[place] ?? score)));
  const outcome = hasFailed ? 'failed' : `scored ${listed(after)}; version ${reference.id} ${listed(before)}`;
  const chosen = isBetter
    ? ''
    : ` It is not better by more than the noise, so version ${reference.id} stays.`;
  return { isBetter, said: `In fresh runs version ${best.id} ${outcome}.${chosen}` };
}

/** As they were printed, so that each can be found in the output again. */
function listed(scores: readonly number[]): string {
  return new Intl.ListFormat('en').format(scores.map(String));
}
