import type { Layer } from '../../layers.ts';
import { type Edit, textOf } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, moduleOf, type TorchScript, written } from './script.ts';
import { hiddenLinears, innerConvolutions, isPlainNumbers } from './shapes.ts';

/** Normalises the outputs of layers, and inputs. */
export function normalise(script: TorchScript): Rewrite[] {
  const isNormalised = script.models.some((layers) => layers.some(({ kind }) => /Norm/.test(kind)));
  if (isNormalised) return [];
  return [...normaliseConvolutions(script), ...normaliseLinears(script), ...normaliseInputs(script)];
}

function normaliseConvolutions(script: TorchScript): Rewrite[] {
  const layers = innerConvolutions(script);
  return after(script, layers, {
    name: 'torch: batch normalisation of convolutions',
    norm: ({ kind }, size) => `BatchNorm${/(\d)d$/.exec(kind)?.[1] ?? 2}d(${size})`,
    reason: 'it lets convolutions learn faster, with larger steps (Ioffe and Szegedy 2015).',
    weight: 0.8,
    effort: 1.3,
  });
}

function normaliseLinears(script: TorchScript): Rewrite[] {
  const layers = hiddenLinears(script);
  const batches = {
    name: 'torch: batch normalisation of hidden layers',
    norm: (_: Layer, size: string) => `BatchNorm1d(${size})`,
    reason: 'it lets hidden layers learn faster, with larger steps (Ioffe and Szegedy 2015).',
    weight: 0.5,
    effort: 1.1,
  };
  return [
    ...after(script, layers, {
      name: 'torch: layer normalisation',
      norm: (_, size) => `LayerNorm(${size})`,
      reason: 'hidden layers on one scale learn faster, whatever the batch (Ba et al. 2016).',
      weight: 0.45,
      effort: 1.1,
    }),
    ...(isPlainNumbers(script) && hasBothModes(script) ? after(script, layers, batches) : []),
  ];
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

interface Norm extends Pick<Rewrite, 'name' | 'reason' | 'weight' | 'effort'> {
  norm(layer: Layer, size: string): string;
}

function after(script: TorchScript, layers: readonly Layer[], { norm, ...rest }: Norm): Rewrite[] {
  const { source } = script;
  const edits = layers.flatMap((layer): Edit[] => {
    if (layer.out === null) return [];
    const nn = moduleOf(source, layer.call, 'torch.nn');
    return wrapped(layer.call, `${nn}.Sequential(`, `, ${nn}.${norm(layer, textOf(source, layer.out))})`);
  });
  if (edits.length === 0) return [];
  const [first] = layers;
  const example = first?.out == null ? '' : norm(first, textOf(source, first.out));
  return written(script, {
    ...rest,
    change: `${example.replace(/\(.*/s, '')} after the layers ${callLines(script, layers)}.`,
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
