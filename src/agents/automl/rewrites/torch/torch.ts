import type { Rewrite, Rewriter, Surroundings } from '../rewrite.ts';
import { swapActivations } from './activations.ts';
import { averageWeights } from './averaging.ts';
import { changeCapacity } from './capacity.ts';
import { clipGradients } from './clipping.ts';
import { swapLosses } from './losses.ts';
import { normalise } from './normalisation.ts';
import { swapOptimizers } from './optimizers.ts';
import { varyPictures } from './pictures.ts';
import { addSchedules } from './schedules.ts';
import { readTorchScript, type TorchScript } from './script.ts';

const finders: readonly ((script: TorchScript) => Rewrite[])[] = [
  swapOptimizers,
  addSchedules,
  clipGradients,
  normalise,
  swapActivations,
  changeCapacity,
  varyPictures,
  swapLosses,
  averageWeights,
];

/** How scripts that use PyTorch could train or be built otherwise. */
export const rewriteTorch: Rewriter = (source, surroundings) => {
  const first = singleRewrites(source, surroundings);
  return [...first, ...recipes.flatMap((recipe) => together(first, surroundings, recipe))];
};

function singleRewrites(source: string, surroundings: Surroundings): Rewrite[] {
  const script = readTorchScript(source, surroundings);
  return script === null ? [] : finders.flatMap((find) => find(script));
}

/** Rewrites that are mostly used together, so that one run tells what all of them are worth. */
interface Recipe {
  name: string;
  parts: readonly string[];
  weight: number;
}

const recipes: readonly Recipe[] = [
  {
    name: 'torch: usual recipe',
    parts: ['torch: AdamW', 'torch: warm-up and cosine decay'],
    weight: 0.9,
  },
  {
    name: 'torch: usual recipe for pictures',
    parts: [
      'torch: AdamW, fast',
      'torch: warm-up and cosine decay',
      'torch: batch normalisation of convolutions',
      'torch: ReLU',
    ],
    weight: 0.95,
  },
];

/** One rewrite after the other; none where fewer than two of them can be made. */
function together(
  first: readonly Rewrite[],
  surroundings: Surroundings,
  { name, parts, weight }: Recipe,
): Rewrite[] {
  const done: Rewrite[] = [];
  for (const part of parts) {
    const before = done.at(-1);
    const offers = before === undefined ? first : singleRewrites(before.source, surroundings);
    const next = offers.find((each) => each.name === part);
    if (next !== undefined) done.push(next);
  }
  const last = done.at(-1);
  const isNeeded = name.endsWith('pictures') ? done.some((each) => /convolutions/.test(each.name)) : true;
  if (last === undefined || done.length < 2 || !isNeeded) return [];
  return [
    {
      ...{ name, weight, source: last.source },
      // Lines are those of the script as it was, where the rewrite can be made there.
      change: done
        .map((each) => (first.find(({ name: same }) => same === each.name) ?? each).change)
        .join(' '),
      reason: `these are mostly used together: ${done.map(({ name: each }) => each.slice(7)).join(', ')}.`,
      effort: done.reduce((product, { effort }) => product * effort, 1),
    },
  ];
}
