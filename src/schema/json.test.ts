import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { Json } from './json.ts';

/** Values that JSON can represent, and values with parts that it can't. */
const anything = fc.anything({ withDate: true, withNullPrototype: true, withBigInt: true, withMap: true });

test("accepts what zod's own schema of JSON accepts, and gives a copy of it", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), anything), (value) => {
      const [own, other] = [Json.safeParse(value), z.json().safeParse(value)];
      expect(own.success).toBe(other.success);
      if (!own.success) return;
      expect(JSON.stringify(own.data)).toBe(JSON.stringify(other.data));
      if (typeof value === 'object' && value !== null) expect(own.data).not.toBe(value);
    }),
    { numRuns: 2_000, examples: [[JSON.parse('[{"__proto__":false}]')]] },
  );
});

test('says that a value is not JSON, and where it is in a larger one', () => {
  const result = z.object({ input: Json }).safeParse({ input: { when: new Date() } });
  expect(result.error?.issues).toMatchObject([{ path: ['input'], message: 'Invalid input: not JSON' }]);
  expect(z.object({ input: Json }).safeParse({}).success).toBe(false);
});
