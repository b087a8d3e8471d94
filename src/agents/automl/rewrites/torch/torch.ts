import { isTimeLike } from '../../../search/metric-names.ts';
import { isLeftOut, type Rewrite, type Rewriter, type Surroundings } from '../rewrite.ts';
import { replaceActivations } from './activations.ts';
import { useLastPosition } from './last-position.ts';
import { trainLonger } from './length.ts';
import { normaliseConvolutions } from './normalisation.ts';
import { swapOptimizers } from './optimizers.ts';
import { addSchedule } from './schedules.ts';
import { readTorchScript, type TorchScript } from './script.ts';

type Finder = (script: TorchScript) => Rewrite[];

/** These change the results. */
const finders: readonly Finder[] = [
  swapOptimizers,
  addSchedule,
  normaliseConvolutions,
  replaceActivations,
  trainLonger,
];

/**
 * Other ways to train or build the models of PyTorch scripts; if the metric is a time, ways to make the scripts faster.
 */
export const rewriteTorch: Rewriter = (source, surroundings) => {
  if (isTimeLike(surroundings.task.metric)) return found([useLastPosition], source, surroundings);
  const first = found(finders, source, surroundings);
  return [...first, ...recipes.flatMap((recipe) => together(first, surroundings, recipe))];
};

function found(wanted: readonly Finder[], source: string, surroundings: Surroundings): Rewrite[] {
  const script = readTorchScript(source, surroundings);
  const all = script === null ? [] : wanted.flatMap((find) => find(script));
  return all.filter(({ name }) => !isLeftOut(name, surroundings));
}

/** Rewrites that are usually used together, so that one run shows what all of them are worth. */
interface Recipe {
  name: string;
  /** In the order in which they are applied, each with its finder: the others need not look. */
  parts: readonly (readonly [name: string, finder: Finder])[];
  weight: number;
}

const recipes: readonly Recipe[] = [
  {
    name: 'torch: usual recipe',
    parts: [
      ['torch: AdamW', swapOptimizers],
      ['torch: warm-up and cosine decay', addSchedule],
    ],
    weight: 0.9,
  },
  {
    name: 'torch: usual recipe for pictures',
    parts: [
      ['torch: AdamW, fast', swapOptimizers],
      ['torch: warm-up and cosine decay', addSchedule],
      ['torch: batch normalisation of convolutions', normaliseConvolutions],
      ['torch: ReLU', replaceActivations],
    ],
    weight: 0.95,
  },
];

/** One rewrite after the other; none if fewer than two of them apply. */
function together(
  first: readonly Rewrite[],
  surroundings: Surroundings,
  { name, parts, weight }: Recipe,
): Rewrite[] {
  const done: Rewrite[] = [];
  for (const [part, finder] of parts) {
    const before = done.at(-1);
    const offers = before === undefined ? first : found([finder], before.source, surroundings);
    const next = offers.find((each) => each.name === part);
    if (next !== undefined) done.push(next);
  }
  const last = done.at(-1);
  const isNeeded = name.endsWith('pictures') ? done.some((each) => /convolutions/.test(each.name)) : true;
  if (last === undefined || done.length < 2 || !isNeeded) return [];
  return [
    {
      ...{ name, weight, source: last.source },
      // Line numbers are those of the original script, if the rewrite applies to it.
      change: done
        .map((each) => (first.find(({ name: same }) => same === each.name) ?? each).change)
        .join(' '),
      reason: `these are mostly used together: ${done.map(({ name: each }) => each.slice(7)).join(', ')}.`,
      effort: done.reduce((product, { effort }) => product * effort, 1),
    },
  ];
}
