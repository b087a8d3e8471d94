import { type Edit, textOf } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { torchImport, wrapped } from './normalisation.ts';
import { inLines, moduleOf, type TorchScript, written } from './script.ts';
import { innerConvolutions, lastLinears } from './shapes.ts';

/** Residual blocks after convolutions, which do no harm at first, and dropout against overfitting. */
export function changeCapacity(script: TorchScript): Rewrite[] {
  return [...dropout(script), ...deeperConvolutions(script)];
}

function dropout(script: TorchScript): Rewrite[] {
  const { source } = script;
  const layers = lastLinears(script);
  if (layers.length === 0 || /dropout/i.test(source) || !/\.eval\(\)|\.train\(False\)/.test(source))
    return [];
  const calls = layers.map(({ call }) => call);
  return written(script, {
    name: 'torch: dropout',
    change: `A tenth of the numbers that go into the last layer ${inLines(source, calls)} is left out at random.`,
    reason: 'a network that cannot rely on single numbers learns less by heart (Srivastava et al. 2014).',
    weight: 0.35,
    effort: 1.02,
    imports: torchImport(script, layers),
    edits: calls.flatMap((call) => {
      const nn = moduleOf(source, call, 'torch.nn');
      return wrapped(call, `${nn}.Sequential(${nn}.Dropout(0.1), `, ')');
    }),
  });
}

function deeperConvolutions(script: TorchScript): Rewrite[] {
  const { source } = script;
  const layers = innerConvolutions(script);
  // If there are blocks already, more convolutions cost much and gain little.
  if (layers.length === 0 || layers.length > 6 || /\bresidual\(/.test(source)) return [];
  const edits = layers.flatMap(({ call, kind, out }): Edit[] => {
    if (out === null) return [];
    const nn = moduleOf(source, call, 'torch.nn');
    const size = textOf(source, out);
    const norm = `${nn}.BatchNorm${kind.slice(-2)}(${size})`;
    const block = `residual(${norm}, ${nn}.ReLU(), ${nn}.${kind}(${size}, ${size}, 3, padding=1))`;
    return wrapped(call, `${nn}.Sequential(`, `, ${block})`);
  });
  const calls = layers.map(({ call }) => call);
  return written(script, {
    name: 'torch: residual convolutions',
    change: `A residual block (batch normalisation, ReLU, convolution) after each convolution ${inLines(source, calls)}.`,
    reason: 'deeper networks see more, and residual blocks can be learnt (He et al. 2016).',
    weight: 0.55,
    effort: 2.2,
    imports: torchImport(script, layers),
    parts: ['residual'],
    edits,
  });
}
