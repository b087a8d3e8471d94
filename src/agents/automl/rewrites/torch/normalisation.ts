import type { Layer } from '../../layers.ts';
import { type Edit, textOf } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, moduleOf, type TorchScript, written } from './script.ts';
import { innerConvolutions, isPlainNumbers } from './shapes.ts';

/** Normalises the outputs of layers, and inputs. */
export function normalise(script: TorchScript): Rewrite[] {
  const isNormalised = script.models.some((layers) => layers.some(({ kind }) => /Norm/.test(kind)));
  if (isNormalised) return [];
  return [...normaliseConvolutions(script), ...normaliseInputs(script)];
}

function normaliseConvolutions(script: TorchScript): Rewrite[] {
  const { source } = script;
  const layers = innerConvolutions(script);
  if (layers.length === 0) return [];
  return written(script, {
    name: 'torch: batch normalisation of convolutions',
    change: `Batch normalisation after the layers ${callLines(script, layers)}.`,
    reason: 'it lets convolutions learn faster, with larger steps (Ioffe and Szegedy 2015).',
    weight: 0.8,
    effort: 1.3,
    imports: torchImport(script, layers),
    edits: layers.flatMap(({ call, kind, out }): Edit[] => {
      if (out === null) return [];
      const nn = moduleOf(source, call, 'torch.nn');
      const norm = `${nn}.BatchNorm${kind.slice(-2)}(${textOf(source, out)})`;
      return wrapped(call, `${nn}.Sequential(`, `, ${norm})`);
    }),
  });
}

/** Inputs of a network on numeric data: mean zero and variance one, estimated from batches. */
function normaliseInputs(script: TorchScript): Rewrite[] {
  const { source } = script;
  if (!isPlainNumbers(script) || !hasBothModes(script)) return [];
  if (/Scaler|\.std\(|\bnormali[sz]e/.test(source)) return [];
  const layers = script.models.flatMap(([first]) => (first?.kind === 'Linear' ? [first] : []));
  const edits = layers.flatMap(({ call, into }): Edit[] => {
    if (into === null) return [];
    const nn = moduleOf(source, call, 'torch.nn');
    const size = textOf(source, into);
    return wrapped(call, `${nn}.Sequential(${nn}.BatchNorm1d(${size}, affine=False), `, ')');
  });
  if (edits.length === 0) return [];
  return written(script, {
    name: 'torch: inputs on one scale',
    change: `Inputs have mean 0 and variance 1 before the layer ${callLines(script, layers)}.`,
    reason: 'inputs of very different sizes make for narrow valleys (LeCun et al. 1998).',
    weight: 0.6,
    effort: 1.05,
    imports: torchImport(script, layers),
    edits,
  });
}

/** Running means need both modes: a script that never calls `eval` would measure with those of the batch. */
function hasBothModes({ source }: TorchScript): boolean {
  return /\.eval\(\)|\.train\(False\)/.test(source);
}

function callLines({ source }: TorchScript, layers: readonly Layer[]): string {
  return inLines(
    source,
    layers.map(({ call }) => call),
  );
}

export function torchImport({ source }: TorchScript, layers: readonly Layer[]): string[] {
  return layers.some(({ call }) => moduleOf(source, call, '') === '') ? ['import torch'] : [];
}

export function wrapped({ from, to }: { from: number; to: number }, before: string, behind: string): Edit[] {
  return [
    { from, to: from, text: before },
    { from: to, to, text: behind },
  ];
}
