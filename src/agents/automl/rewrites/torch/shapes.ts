import type { Layer } from '../../layers.ts';
import { textOf } from '../../python-source.ts';
import type { TorchScript } from './script.ts';

/** Layers whose own weights are looked into, or that stand for something else than one step of a chain. */
const special =
  /(?:^|_)(?:q|k|v|qkv|query|key|value|queries|keys|values|attn|attention|proj|gate|gates|mu|mean|logvar|log_var|std|skip|shortcut|downsample)(?:_|\d|$)/i;

/** Linear layers that another linear layer of the same model goes on from. */
export function hiddenLinears(script: TorchScript): Layer[] {
  return script.models.flatMap((layers) =>
    layers.filter((layer, place) => {
      if (layer.kind !== 'Linear' || layer.out === null || !isOrdinary(script, layer)) return false;
      const next = layers.slice(place + 1).find(({ kind }) => kind === 'Linear');
      return next?.into != null && same(script, layer.out, next.into);
    }),
  );
}

/** The last linear layer of each model whose input is what a layer before it gives. */
export function lastLinears(script: TorchScript): Layer[] {
  return script.models.flatMap((layers) => {
    const last = layers.findLast(({ kind }) => kind === 'Linear');
    // The blocks of a transformer have their own ways to be deep.
    const isBlock = layers.some(({ kind }) => /^(?:Layer|RMS)Norm$|^Multihead|^Transformer/.test(kind));
    const isLater = layers.length > 1 && last !== layers[0] && !isBlock;
    return last?.into != null && isLater && isOrdinary(script, last) ? [last] : [];
  });
}

/** Convolutions that something else of the model goes on from: not those that give the output. */
export function innerConvolutions(script: TorchScript): Layer[] {
  return script.models.flatMap((layers) => {
    const last = layers.findLast(({ keeps }) => !keeps);
    return layers.filter(
      (layer) =>
        /^Conv[123]d$/.test(layer.kind) && layer !== last && layer.out !== null && isOrdinary(script, layer),
    );
  });
}

/** Whether models see nothing but rows of numbers: no pictures, no sequences. */
export function isPlainNumbers({ models }: TorchScript): boolean {
  const kinds = models.flat().map(({ kind }) => kind);
  return (
    kinds.includes('Linear') &&
    !kinds.some((kind) => /^(?:Conv|LSTM|GRU|RNN|Embedding|Multi|Transf)/.test(kind))
  );
}

/** Whether a layer is one step of a chain, and nothing looks into its weights. */
export function isOrdinary({ source }: TorchScript, { holder }: Layer): boolean {
  if (holder === null) return true;
  return !special.test(holder) && !new RegExp(`\\b${holder}\\s*\\.\\s*(?:weight|bias)\\b`).test(source);
}

function same(
  { source }: TorchScript,
  left: NonNullable<Layer['out']>,
  right: NonNullable<Layer['into']>,
): boolean {
  return textOf(source, left).replace(/\s/g, '') === textOf(source, right).replace(/\s/g, '');
}
