import { describe, expect, it } from 'vitest';
import { settledScript } from './settled.ts';

const blend = 'MEMBERS = [\n    "boosting",\n    "linear",\n    "forest",\n]\nSECONDS = 20\nSEED = 0\n';

describe("one of automl's scripts that is run again", () => {
  it('keeps the models that its first run blended, with spare time for them', () => {
    const printed =
      '300 rows to learn from\nforest: left out, for want of time\n' +
      'boosting: 1.03916 alone, 0.68 of the blend\nlinear: 1.1 alone, 0.32 of the blend\n' +
      'kernel: 1.0796 alone, 0.00 of the blend\nvalidation RMSE: 1.03637\n';
    expect(settledScript(blend, printed)).toBe('MEMBERS = ["boosting", "linear"]\nSECONDS = 60\nSEED = 0\n');
  });

  it('may have only one model if others were measured and got no weight', () => {
    const printed = 'boosting: 0.96 alone, 0.00 of the blend\nkernel: 0.99 alone, 1.00 of the blend\n';
    expect(settledScript(blend, printed)).toBe('MEMBERS = ["kernel"]\nSECONDS = 60\nSEED = 0\n');
  });

  it('is unchanged if only one model was measured, possibly on fewer folds', () => {
    expect(settledScript(blend, 'boosting: 2 alone, 1.00 of the blend\n')).toBe(blend);
    expect(settledScript(blend, '')).toBe(blend);
  });
});
