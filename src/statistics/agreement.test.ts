import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactAgreement, ordinalAlpha } from './agreement.ts';

/** Krippendorff's example of four observers (2011, section C), by unit; 0: no rating. */
const observers = [
  [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
  [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
  [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
  [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
];
const example = (observers[0] ?? []).map((_, unit) =>
  observers.map((ratings) => ratings[unit] ?? 0).filter((rating) => rating > 0),
);

const anyUnits = fc.array(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 5 }), { maxLength: 8 });

describe('agreement', () => {
  it("is Krippendorff's result for his example", () => {
    expect(ordinalAlpha(example)).toBeCloseTo(0.815, 3);
  });

  it('is 1 if raters agree and items differ, and null if all ratings are the same', () => {
    expect(
      ordinalAlpha([
        [1, 1],
        [5, 5, 5],
      ]),
    ).toBe(1);
    expect(
      ordinalAlpha([
        [3, 3],
        [3, 3],
      ]),
    ).toBeNull();
    expect(ordinalAlpha([[1], [2]])).toBeNull();
    expect(
      exactAgreement([
        [1, 1],
        [2, 2, 3],
      ]),
    ).toBeCloseTo(0.5);
    expect(exactAgreement([[1]])).toBeNull();
  });

  it('never exceeds 1, and depends on neither the direction nor the names of the categories', () => {
    fc.assert(
      fc.property(anyUnits, (units) => {
        const alpha = ordinalAlpha(units);
        if (alpha === null) return;
        expect(alpha).toBeLessThanOrEqual(1);
        const turned = units
          .map((ratings) => ratings.map((rating) => 10 * rating + 3).toReversed())
          .toReversed();
        expect(ordinalAlpha(turned)).toBeCloseTo(alpha, 9);
      }),
    );
  });
});
