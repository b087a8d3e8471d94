import { z } from 'zod';

const Column = z.object({
  name: z.string(),
  known: z.int(),
  distinct: z.int(),
  numeric: z.boolean(),
  values: z.array(z.string()).describe('all of them, where they are few'),
});

const ColumnOfFiles = z.object({
  column: z.string(),
  folder: z.string(),
  suffix: z.string().describe('what the cells lack to be names of files'),
  ending: z.string(),
});

/** The output of `python/automl/look.py` about the data folder. */
export const DataSummary = z.object({
  packages: z.array(z.string()),
  rows_to_predict: z.string().optional().describe('path of the table with the rows to predict'),
  given: z.array(z.string()).describe('columns of the submission that the rows to predict hold already'),
  tables: z.array(
    z.object({
      path: z.string(),
      rows: z.int(),
      has_id: z.boolean(),
      highest_id: z.number().nullable().describe('of ids that are whole numbers; null for others'),
      shared: z.int().describe('columns that the rows to predict have too, but for the id'),
      kinds: z
        .object({ text: z.int(), letters: z.int(), number: z.int(), name: z.int() })
        .describe('how many of these are of each kind'),
      more: z.array(Column).describe('columns that the rows to predict do not have'),
      files: z.array(ColumnOfFiles).describe('columns whose cells name files'),
    }),
  ),
  arrays: z.array(
    z.object({
      path: z.string(),
      key: z.string().describe('the name in an archive; empty for a file of one array'),
      shape: z.array(z.int()),
      kind: z.string().describe("numpy's letter: i, u, f, b or U"),
      least: z.number().nullable().default(null).describe('of whole numbers; null for others'),
      most: z.number().nullable().default(null),
      values: z.array(z.string()).describe('of a row of whole numbers or texts, where they are few'),
    }),
  ),
  folders: z
    .array(z.object({ path: z.string(), ending: z.string(), classes: z.array(z.string()), files: z.int() }))
    .describe('folders of folders with files of one kind'),
});
export type DataSummary = z.infer<typeof DataSummary>;
export type Table = DataSummary['tables'][number];
/** An array below `data/`; the path is the one with which a script in the workspace opens it. */
export type ArraySummary = DataSummary['arrays'][number];
/** What is known about a target column. */
export type Answer = z.infer<typeof Column>;

/** Reads the output of the script; null if it is something else. */
export function readDataSummary(printed: string): DataSummary | null {
  const line = printed.split('\n').find((each) => each.startsWith('TABLES '));
  if (line === undefined) return null;
  try {
    return DataSummary.safeParse(JSON.parse(line.slice('TABLES '.length))).data ?? null;
  } catch {
    return null;
  }
}
