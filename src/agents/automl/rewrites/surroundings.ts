import { z } from 'zod';
import type { TaskBrief } from '../../../schema/index.ts';
import type { Surroundings } from './rewrite.ts';

/** The output of `python/automl/look_at_arrays.py` about the data folder. */
const ArraysOutput = z.object({
  packages: z.array(z.string()),
  arrays: z.array(
    z.object({
      path: z.string(),
      key: z.string().nullable(),
      shape: z.array(z.int().nonnegative()),
      dtype: z.string(),
      least: z.number().nullable(),
      most: z.number().nullable(),
    }),
  ),
});

const mark = 'ARRAYS ';

/** What rewriters know besides the script; without arrays and packages if the output does not contain them. */
export function readSurroundings(task: TaskBrief, printed: string): Surroundings {
  const line = printed.split('\n').findLast((each) => each.startsWith(mark));
  try {
    const parsed = ArraysOutput.safeParse(JSON.parse(line?.slice(mark.length) ?? ''));
    if (parsed.success) return { task, ...parsed.data };
  } catch {
    // Truncated in the middle, or not JSON at all.
  }
  return { task, arrays: [], packages: [] };
}
