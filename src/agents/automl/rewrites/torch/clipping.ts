import { hasOwnLines, linesBefore } from '../python-edit.ts';
import type { Rewrite } from '../rewrite.ts';
import { inLines, type TorchScript, written } from './script.ts';
import { optimizerSteps } from './training.ts';

/** Clips gradients to a norm of one before each step. */
export function clipGradients(script: TorchScript): Rewrite[] {
  const { source } = script;
  if (/clip_grad|clip_by|GradScaler/.test(source)) return [];
  const steps = optimizerSteps(script).filter(({ statement }) => hasOwnLines(source, statement));
  const isRecurrent = script.models.some((layers) =>
    layers.some(({ kind }) => /^(?:LSTM|GRU|RNN|Multi)/.test(kind)),
  );
  return steps.length === 0
    ? []
    : written(script, {
        name: 'torch: gradient clipping',
        change: `Gradients are cut to a norm of 1 before the step ${inLines(
          source,
          steps.map(({ statement }) => statement),
        )}.`,
        reason: 'a few large gradients cannot throw the weights far off (Pascanu et al. 2013).',
        weight: isRecurrent ? 0.45 : 0.3,
        effort: 1.05,
        imports: ['import torch'],
        edits: steps.map(({ statement, optimizer }) =>
          linesBefore(source, statement, [
            `torch.nn.utils.clip_grad_norm_([value for group in ${optimizer}.param_groups for value in group["params"]], max_norm=1.0)`,
          ]),
        ),
      });
}
