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
