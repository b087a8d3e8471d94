import { z } from 'zod';
import { pythonScript, readPrinted } from './python-file.ts';

/** What `python/automl/look.py` prints about arrays in the data folder. */
const ArraysSummary = z.object({
  packages: z.array(z.string()),
  arrays: z.array(
    z.object({
      path: z.string().describe('the one with which a script in the workspace opens it'),
      key: z.string().describe('the name in an archive; empty for a file of one array'),
      shape: z.array(z.int()),
      kind: z.string().describe("numpy's letter: i, u, f, b or U"),
      least: z.number().nullable().describe('of whole numbers; null for others'),
      most: z.number().nullable(),
    }),
  ),
});
type ArraysSummary = z.infer<typeof ArraysSummary>;
export type ArraySummary = ArraysSummary['arrays'][number];

export const arraysScript = (): string => pythonScript(['formats', 'look'], {}, 'print_arrays()');

/** Reads the output of that script; null if it is something else. */
export function readArrays(printed: string): ArraysSummary | null {
  return readPrinted('ARRAYS', ArraysSummary, printed);
}
