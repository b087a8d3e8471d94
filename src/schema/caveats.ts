import { z } from 'zod';

/** An object with `caveats`, which stores from before version 0.1 call `marks`. */
export function withCaveats<Fields extends z.ZodType>(object: Fields): z.ZodPreprocess<Fields> {
  return z.preprocess((value) => {
    if (typeof value !== 'object' || value === null || !('marks' in value)) return value;
    const { marks, ...others } = value;
    return { caveats: marks, ...others };
  }, object);
}
