import { argumentsOf } from '../../arguments.ts';
import { findKnobs } from '../../knobs.ts';
import { calleeName, type SyntaxNode } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, written } from '../written.ts';
import type { TorchScript } from './script.ts';
import { coursesOf, iterableOf, loopsAroundSteps } from './training.ts';

/** Found among the numbers to tune once the rewrite is kept. */
const factor = 'TIMES_LONGER';

/** Trains longer where no number in the script says how long: it is read from a file, or computed. */
export function trainLonger(script: TorchScript): Rewrite[] {
  const { source } = script;
  if (findKnobs(source).some(({ prior }) => prior.isLength)) return [];
  const counts = new Map(
    loopsAroundSteps(script).flatMap((loops) => {
      const count = countOf(script, coursesOf(source, loops).at(-1));
      return count === null ? [] : [[count.from, count] as const];
    }),
  );
  if (counts.size === 0) return [];
  const edits = [...counts.values()].flatMap(({ from, to }) => [
    { from, to: from, text: `${factor} * (` },
    { from: to, to, text: ')' },
  ]);
  return written(source, {
    ...{ name: 'torch: train longer', weight: 0.88, effort: 2, edits, lines: [`${factor} = 2`] },
    change: `The training ${inLines(source, [...counts.values()])} takes twice as many rounds.`,
    reason: 'networks that are trained for a few minutes are rarely trained to the end.',
  });
}

/** `n` of `range(n)`. */
function countOf({ source }: TorchScript, loop: SyntaxNode | undefined): SyntaxNode | null {
  let iterable = loop === undefined ? null : iterableOf(loop);
  // A schedule may have been added before.
  while (
    iterable?.name === 'CallExpression' &&
    /^(?:planned|enumerate|tqdm)$/.test(calleeName(source, iterable))
  )
    iterable = argumentsOf(source, iterable)[0]?.value ?? null;
  if (iterable?.name !== 'CallExpression' || calleeName(source, iterable) !== 'range') return null;
  const [count, ...others] = argumentsOf(source, iterable).map(({ value }) => value);
  return others.length > 0 ? null : (count ?? null);
}
