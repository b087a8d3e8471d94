import { argumentOf } from '../../arguments.ts';
import { type SyntaxNode, textOf } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, moduleOf, type TorchScript, written } from './script.ts';
import { type MadeOptimizer, madeOptimizers } from './training.ts';

interface Swap {
  name: string;
  settings: string;
  weight: number;
}

const reason =
  'adaptive steps with a penalty of their own work over a wide range of scripts (Loshchilov and Hutter 2019).';
const swaps: readonly Swap[] = [
  { name: 'torch: AdamW', settings: 'lr=1e-3, weight_decay=1e-2', weight: 0.85 },
  { name: 'torch: AdamW, fast', settings: 'lr=3e-3, weight_decay=1e-2', weight: 0.75 },
];

/** Another optimizer for the same parameters, with a learning rate that is usual for it. */
export function swapOptimizers(script: TorchScript): Rewrite[] {
  const optimizers = madeOptimizers(script).filter(({ kind }) => kind !== 'LBFGS' && kind !== 'AdamW');
  return swaps.flatMap((swap) => {
    const changed = optimizers.flatMap((optimizer) => {
      const text = swapped(script, optimizer, swap);
      return text === null ? [] : [{ ...optimizer, text }];
    });
    const kinds = [...new Set(changed.map(({ kind }) => kind))].join(', ');
    const calls = changed.map(({ call }) => call);
    return changed.length === 0
      ? []
      : written(script, {
          ...{ name: swap.name, reason, weight: swap.weight, effort: 1.05 },
          change: `AdamW(${swap.settings}) instead of ${kinds} ${inLines(script.source, calls)}.`,
          edits: changed.map(({ call: { from, to }, text }) => ({ from, to, text })),
          imports: calls.some((call) => moduleOf(script.source, call, '') === '') ? ['import torch'] : [],
        });
  });
}

function swapped({ source }: TorchScript, { call }: MadeOptimizer, { settings }: Swap): string | null {
  const parameters: SyntaxNode | null = argumentOf(source, call, 'params', 0);
  // Parameter groups with their own rates would keep them.
  if (parameters === null || /["']lr["']|\blr\s*=/.test(textOf(source, parameters))) return null;
  return `${moduleOf(source, call, 'torch.optim')}.AdamW(${textOf(source, parameters)}, ${settings})`;
}
