import { describe, expect, it } from 'vitest';
import { findKnobs } from './knobs.ts';
import { literalOf, moved, type StepDirection } from './scales.ts';

function step(source: string, direction: StepDirection, size: number): string | null {
  const knob = findKnobs(source)[0] ?? expect.fail(`no knob in ${source}`);
  const value = moved(knob, knob.value, direction, size);
  return value === null ? null : literalOf(knob, value);
}

describe('a step on a scale', () => {
  it.each<[string, StepDirection, number, string | null]>([
    ['lr = 0.1', -1, 1, '0.01'],
    ['lr = 0.1', 1, 0.5, '0.32'],
    ['lr = 5.0', 1, 1, '10.0'],
    ['lr = 10.0', 1, 1, null],
    ['alpha = 1', -1, 1, '0.1'],
    ['alpha = 1', 1, 1, '10.0'],
    ['weight_decay = 0', 1, 1, '0.0001'],
    ['weight_decay = 0', -1, 1, null],
    ['alpha = 1e-6', -1, 1, '1e-7'],
    ['dropout = 0.5', 1, 1, '0.73'],
    ['dropout = 0.5', -1, 1, '0.27'],
    ['dropout = 0.0', 1, 1, '0.1'],
    ['momentum = 0.9', 1, 1, '0.961'],
    ['subsample = 1.0', 1, 1, null],
    ['subsample = 1.0', -1, 1, '0.77'],
    ['epochs = 5', 1, 1, '10'],
    ['epochs = 1', -1, 1, null],
    ['epochs = 1', 1, 0.25, '2'],
    ['batch_size = 128', -1, 1, '64'],
    ['max_depth = 5', -1, 1, '2'],
    ['max_depth = 5', 1, 1, '8'],
    ['max_depth = 1', 1, 1, '2'],
    ['max_depth = 1', -1, 1, null],
  ])('takes %j by %d × %d to %j', (source, direction, size, expected) => {
    expect(step(source, direction, size)).toBe(expected);
  });
});
