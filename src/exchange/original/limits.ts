import { UserError } from '../../lib/errors.ts';

/**
 * Limits for reading recordings. They may come from anybody, so everything that they can make grow is limited, far
 * above what a run of the original needs: its largest file has some megabytes, and it ends after 50 steps or a few
 * hundred calls.
 */
export const mostOf = {
  /** Bytes of one file of texts, uncompressed. */
  file: 6 * 2 ** 20,
  /** Bytes of all texts of a run. */
  run: 12 * 2 ** 20,
  /** Values in the JSON of a run. */
  values: 300_000,
  depth: 100,
  steps: 5_000,
  innerSteps: 50_000,
  calls: 20_000,
  /** Files in all workspaces of a run. */
  files: 500_000,
  /** Bytes of one file of a workspace. */
  workspaceFile: 8 * 2 ** 30,
  /** Runs of one import. */
  runs: 10_000,
  /** Files and folders to visit to find the runs. */
  entries: 5_000_000,
} as const;

/** How much more may be read of one run. */
export class ReadingBudget {
  bytes: number = mostOf.run;
  values: number = mostOf.values;
  files: number = mostOf.files;
}

export function tooMany(what: string, most: number): UserError {
  return new UserError(
    'too_much_to_import',
    `There are more than ${most} ${what} in these folders.`,
    'Name fewer folders, and import the others under another --name.',
  );
}
