import type { Rewrite, Rewriter, Surroundings } from './rewrite.ts';

const rewriters: readonly Rewriter[] = [];

/** Everything that could be rewritten in a script, the likeliest to help first. */
export function allRewrites(source: string, surroundings: Surroundings): Rewrite[] {
  return rewriters
    .flatMap((rewriter) => rewriter(source, surroundings))
    .sort((left, right) => right.weight - left.weight);
}
