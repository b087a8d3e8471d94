/** A number that a name or a call says is a seed: `seed=0`, `RANDOM_STATE = 42`, `manual_seed(1)`, `"--seed", default=3`. */
const seeds =
  /(?<before>\b\w*(?:seed|random_state)\b["']?(?:\s*:\s*int)?\s*(?:=(?!=)|:)\s*|\b(?:manual_seed(?:_all)?|set_seed|seed_everything|seed|default_rng|RandomState|PRNGKey)\(\s*|["']--?\w*seed["'][^\n]*?\bdefault\s*=\s*)(?<digits>\d{1,9})\b/gi;

/**
 * A script with every seed that is written in it raised, so that what it scores is drawn anew; unchanged where none is. Only
 * for measuring: no such script is handed in.
 */
export function withFreshSeeds(source: string, raisedBy: number): string {
  return source.replace(
    seeds,
    (_, before: string, digits: string) => `${before}${Number(digits) + raisedBy}`,
  );
}
