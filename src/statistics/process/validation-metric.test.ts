import { expect, test } from 'vitest';
import type { ScoringReference } from '../../schema/index.ts';
import { ObservedNumbers } from './measurements.ts';
import { executed, scoringReference, transcriptOf } from './test-support.ts';
import { validationReadings } from './validation-metric.ts';

/** The readings of a run whose scripts printed these outputs, for a task with this text. */
function readingsOf(outputs: readonly string[], problem: string, of: ScoringReference | null = null) {
  const transcript = transcriptOf(
    outputs.map((output) => executed(output)),
    { problem },
  );
  return validationReadings(transcript, new ObservedNumbers(), of).map(({ metric, printed, value }) => [
    metric,
    printed,
    value,
  ]);
}

const accuracyTask = 'Improve the accuracy on the test data: higher is better.';
const minimizing: ScoringReference = { ...scoringReference, direction: 'minimize' };

test.each(['epoch 3: loss 0.41', 'Loss: 0.41', 'train_loss: 0.41', 'training loss = 0.41'])(
  'a loss without a word for validation data counts as training loss: %s',
  (output) => {
    expect(readingsOf([output, output], accuracyTask)).toEqual([]);
    expect(readingsOf([output, output], 'Lower the loss on the hidden text.', minimizing)).toEqual([]);
  },
);

test('a validation loss is inverted, as lower is better', () => {
  expect(readingsOf(['loss: 0.3, val_loss: 0.41', 'loss: 0.2, val_loss: 0.4'], accuracyTask)).toEqual([
    ['validation loss', 0.41, -0.41],
    ['validation loss', 0.4, -0.4],
  ]);
});

test("the task's metric has priority over others, even if they are printed more often", () => {
  const epochs = [
    'loss: 0.3 - accuracy: 0.95 - val_loss: 0.41 - val_accuracy: 0.81',
    'loss: 0.2 - accuracy: 0.97 - val_loss: 0.4 - val_accuracy: 0.84',
    'val_loss: 0.39',
  ];
  expect(readingsOf(epochs, accuracyTask)).toEqual([
    ['validation accuracy', 0.81, 0.81],
    ['validation accuracy', 0.84, 0.84],
  ]);
});

test('a metric without a word for its data counts if the task names it and the directions agree', () => {
  expect(readingsOf(['accuracy: 0.81'], accuracyTask)).toEqual([['accuracy', 0.81, 0.81]]);
  expect(readingsOf(['accuracy: 0.81'], accuracyTask, scoringReference)).toEqual([['accuracy', 0.81, 0.81]]);
  expect(readingsOf(['accuracy: 0.81'], accuracyTask, minimizing)).toEqual([]);
  expect(readingsOf(['R2: 0.81'], accuracyTask)).toEqual([]);
  expect(readingsOf(['MAE: 18450.5'], 'Lower the MAE of the prices.')).toEqual([['mae', 18450.5, -18450.5]]);
});

test('where the text of the task was not recorded, the direction of its metric must fit', () => {
  expect(readingsOf(['accuracy: 0.81'], '', scoringReference)).toEqual([['accuracy', 0.81, 0.81]]);
  expect(readingsOf(['accuracy: 0.81'], '', minimizing)).toEqual([]);
  expect(readingsOf(['accuracy: 0.81'], '')).toEqual([]);
  expect(readingsOf(['loss: 0.81'], '', minimizing)).toEqual([]);
});

test('a metric called score has no known direction', () => {
  const printed = ['validation score: 0.81'];
  expect(readingsOf(printed, 'Improve the score.')).toEqual([]);
  expect(readingsOf(printed, 'Improve the score.', minimizing)).toEqual([]);
  expect(readingsOf(printed, 'Improve the score.', scoringReference)).toEqual([
    ['validation score', 0.81, 0.81],
  ]);
});
