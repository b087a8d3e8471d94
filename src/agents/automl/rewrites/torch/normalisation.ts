import { type SourceEdit, textOf } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, moduleOf, type TorchScript, written } from './script.ts';
import { innerConvolutions } from './shapes.ts';

/** Batch normalisation after each convolution but the last; none if the model has any normalisation. */
export function normaliseConvolutions(script: TorchScript): Rewrite[] {
  if (script.models.some((layers) => layers.some(({ kind }) => /Norm/.test(kind)))) return [];
  const { source } = script;
  const layers = innerConvolutions(script);
  if (layers.length === 0) return [];
  const calls = layers.map(({ call }) => call);
  return written(script, {
    name: 'torch: batch normalisation of convolutions',
    change: `Batch normalisation after the layers ${inLines(source, calls)}.`,
    reason: 'it lets convolutions learn faster, with larger steps (Ioffe and Szegedy 2015).',
    weight: 0.8,
    effort: 1.3,
    imports: calls.some((call) => moduleOf(source, call, '') === '') ? ['import torch'] : [],
    edits: layers.flatMap(({ call, kind, out }): SourceEdit[] => {
      if (out === null) return [];
      const nn = moduleOf(source, call, 'torch.nn');
      const norm = `${nn}.BatchNorm${kind.slice(-2)}(${textOf(source, out)})`;
      return [
        { from: call.from, to: call.from, text: `${nn}.Sequential(` },
        { from: call.to, to: call.to, text: `, ${norm})` },
      ];
    }),
  });
}
