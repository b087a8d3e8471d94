import { argumentsOf } from '../../arguments.ts';
import type { Rewrite } from '../rewrite.ts';
import { wrapped } from './normalisation.ts';
import { calleeText, callsOf, inLines, isTraining, type TorchScript, written } from './script.ts';

const varied =
  /RandomCrop|RandomResized|RandomHorizontal|RandomRotation|RandomAffine|RandAugment|\bshifted\(|\.flip\(|fliplr/;

/** Shifts pictures, or also mirrors them, whenever they are used in training. */
export function varyPictures(script: TorchScript): Rewrite[] {
  const { source, models, modelNames } = script;
  const layers = models.flat();
  // If the answer is a picture, shifting the input alone would make the answer wrong.
  const answersPictures =
    layers.some(({ kind }) => kind.startsWith('ConvTranspose')) || /Upsample|interpolate\(/.test(source);
  const classifies =
    callsOf(script, /\.(?:cross_entropy|CrossEntropyLoss|nll_loss|NLLLoss|BCEWithLogitsLoss)$/).length > 0;
  if (!layers.some(({ kind }) => kind === 'Conv2d') || answersPictures || !classifies || varied.test(source))
    return [];
  const inputs = script.calls.flatMap((call) => {
    const [input] =
      modelNames.has(calleeText(source, call)) && isTraining(script, call) ? argumentsOf(source, call) : [];
    return input === undefined || input.keyword !== null ? [] : [input.value];
  });
  if (inputs.length === 0) return [];
  const where = inLines(source, inputs);
  return [
    written(script, {
      name: 'torch: moved pictures',
      change: `Pictures are moved at random by up to an eighth of their size in training, ${where}.`,
      reason: 'what a picture shows does not depend on where it stands (Krizhevsky et al. 2012).',
      ...{ weight: 0.5, effort: 1.15, parts: ['shift'] },
      edits: inputs.flatMap((input) => wrapped(input, 'shifted(', ')')),
    }),
    written(script, {
      name: 'torch: moved and mirrored pictures',
      change: `Pictures are moved at random by up to an eighth of their size, and half of them mirrored, in training, ${where}.`,
      reason:
        'what a picture shows mostly depends neither on its place nor on its side (Krizhevsky et al. 2012).',
      ...{ weight: 0.5, effort: 1.15, parts: ['shift'] },
      edits: inputs.flatMap((input) => wrapped(input, 'shifted(', ', flip=True)')),
    }),
  ].flat();
}
