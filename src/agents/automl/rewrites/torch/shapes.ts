import type { Layer } from '../../layers.ts';
import { textOf } from '../../python-source.ts';
import type { TorchScript } from './script.ts';

/** Layers whose weights are accessed, or that stand for something other than one step of a chain. */
const special =
  /(?:^|_)(?:q|k|v|qkv|query|key|value|queries|keys|values|attn|attention|proj|gate|gates|mu|mean|logvar|log_var|std|skip|shortcut|downsample)(?:_|\d|$)/i;

/** Linear layers whose output goes to another linear layer of the same model. */
export function hiddenLinears(script: TorchScript): Layer[] {
  return script.models.flatMap((layers) =>
    layers.filter((layer, place) => {
      if (layer.kind !== 'Linear' || layer.out === null || !isOrdinary(script, layer)) return false;
      const next = layers.slice(place + 1).find(({ kind }) => kind === 'Linear');
      return next?.into != null && same(script, layer.out, next.into);
    }),
  );
}

/** Convolutions whose output goes to something else in the model: not those that give the final output. */
export function innerConvolutions(script: TorchScript): Layer[] {
  return script.models.flatMap((layers) => {
    const last = layers.findLast(({ keeps }) => !keeps);
    return layers.filter(
      (layer) =>
        /^Conv[123]d$/.test(layer.kind) && layer !== last && layer.out !== null && isOrdinary(script, layer),
    );
  });
}

/** Whether a layer is one step of a chain, and nothing accesses its weights. */
function isOrdinary({ source }: TorchScript, { holder }: Layer): boolean {
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
