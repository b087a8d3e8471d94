import { usualName } from '../../../search/metric-names.ts';
import { argumentsOf } from '../../arguments.ts';
import { calleeName, type SyntaxNode } from '../../python-source.ts';
import type { Rewrite } from '../rewrite.ts';
import { callsOf, inLines, isTraining, moduleOf, type TorchScript, written } from './script.ts';

/** Losses that are closer to the metric, or that keep a network from being overconfident. */
export function swapLosses(script: TorchScript): Rewrite[] {
  return [...smoothLabels(script), ...absoluteErrors(script)];
}

/** Loss objects that are created once, and loss functions that are called in training. */
function lossesOf(script: TorchScript, pattern: RegExp): SyntaxNode[] {
  return callsOf(script, pattern).filter(
    (call) => /^[A-Z]/.test(calleeName(script.source, call)) || isTraining(script, call),
  );
}

function smoothLabels(script: TorchScript): Rewrite[] {
  const { source } = script;
  const metric = usualName(script.surroundings.task.metric);
  // These metrics measure how certain a network is, and that is also the purpose of a language model.
  if (
    /loss|entropy|perplexity|likelihood|bits|calibration|brier/.test(metric) ||
    /label_smoothing/.test(source)
  )
    return [];
  const calls = lossesOf(script, /^torch\.nn\.(?:\w+\.)*(?:cross_entropy|CrossEntropyLoss)$/);
  if (calls.length === 0) return [];
  const edits = calls.flatMap((call) => {
    const last = argumentsOf(source, call).at(-1)?.value;
    const at = last?.to ?? call.to - 1;
    return [{ from: at, to: at, text: `${last === undefined ? '' : ', '}label_smoothing=0.1` }];
  });
  return written(script, {
    name: 'torch: label smoothing',
    change: `A tenth of each label is spread over all classes ${inLines(source, calls)}.`,
    reason:
      'a network that must not be too sure of its classes is less misled by wrong ones (Szegedy et al. 2016).',
    weight: 0.3,
    effort: 1,
    edits,
  });
}

/** The absolute error, and the smoothed one. */
const swaps: Readonly<Record<string, readonly string[]>> = {
  mse_loss: ['l1_loss', 'smooth_l1_loss'],
  MSELoss: ['L1Loss', 'SmoothL1Loss'],
};

/** Uses the absolute error if the metric is one. */
function absoluteErrors(script: TorchScript): Rewrite[] {
  const { source } = script;
  if (!/^(?:mae|mape|smape)$/.test(usualName(script.surroundings.task.metric))) return [];
  const calls = lossesOf(script, /^torch\.nn\.(?:\w+\.)*(?:mse_loss|MSELoss)$/);
  return [0, 1].flatMap((choice) => {
    const edits = calls.flatMap((call) => {
      const to = swaps[calleeName(source, call)]?.[choice];
      const end = call.firstChild?.to;
      if (to === undefined || end === undefined) return [];
      const otherwise = /^[A-Z]/.test(to) ? 'torch.nn' : 'torch.nn.functional';
      return [{ from: call.from, to: end, text: `${moduleOf(source, call, otherwise)}.${to}` }];
    });
    const name = choice === 0 ? 'absolute error' : 'smoothed absolute error';
    return written(script, {
      name: `torch: ${name}`,
      change: `The ${name} is the loss ${inLines(source, calls)}.`,
      reason: 'the loss is then what is measured, and a few far-off values weigh less.',
      weight: 0.5,
      effort: 1,
      imports: ['import torch'],
      edits,
    });
  });
}
