import { join } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { type RunFolder, showPath } from '../../store/index.ts';
import { yieldToSignals } from '../yield-to-signals.ts';
import { type BegunRun, type ExportedRun, readRecordedRun } from './exported-run.ts';
import { type NewFolder, writeIntoNewFolder } from './new-folder.ts';
import { writeRepository } from './to-git.ts';
import { writeJsonLines } from './to-jsonl.ts';
import { originalPlaces, writeLogFolder } from './to-mlagentbench.ts';

export const exportFormats = ['mlagentbench', 'jsonl', 'git'] as const;
export type ExportFormat = (typeof exportFormats)[number];

const maxListed = 10;

export interface RunExportOptions extends NewFolder {
  folders: readonly RunFolder[];
  to: ExportFormat;
  /** Environment variables, for finding git. */
  variables: Readonly<Record<string, string | undefined>>;
}

export interface ExportResult {
  /** Absolute path. */
  folder: string;
  runs: { run: string; steps: number }[];
}

/**
 * Writes runs in a format that others read, atomically. Runs that have not begun are left out.
 * @throws UserError `not_empty`, `no_runs`, `part_left`, and those of the format
 */
export async function exportRuns(options: RunExportOptions): Promise<ExportResult> {
  const runs = options.folders.flatMap((folder) => {
    const record = folder.readRecord();
    return record === null ? [] : [{ folder, record }];
  });
  if (runs.length === 0)
    throw new UserError('no_runs', 'None of these runs has started.', 'Run them first, with: mlab run');
  const folder = await writeIntoNewFolder(options, (part) => writeAs(runs, part, options));
  return { folder, runs: runs.map(({ folder: { id }, record }) => ({ run: id, steps: record.steps })) };
}

async function writeAs(runs: readonly BegunRun[], out: string, options: RunExportOptions): Promise<void> {
  const { to, variables, onProgress, signal } = options;
  if (to === 'git') await writeRepository(runs, readOneByOne(runs, options), out, variables, signal);
  else {
    const places = originalPlaces(runs);
    for await (const run of readOneByOne(runs, options)) {
      if (to === 'jsonl') await writeJsonLines(run, out, signal);
      else {
        const { leftOut } = await writeLogFolder(
          run,
          join(out, places.get(run.folder.id) ?? run.folder.id),
          signal,
        );
        if (leftOut.length > 0) onProgress(leftOutText(run.folder.id, leftOut));
      }
    }
  }
}

/** In the memory of one run; yields each once it is written. */
async function* readOneByOne(
  runs: readonly BegunRun[],
  { onProgress, signal }: RunExportOptions,
): AsyncGenerator<ExportedRun> {
  for (const one of runs) {
    await yieldToSignals(signal);
    const run = readRecordedRun(one);
    yield run;
    onProgress(`${one.folder.id}: ${run.steps.length} steps`);
  }
}

function leftOutText(run: string, paths: readonly string[]): string {
  const more = paths.length > maxListed ? ` and ${paths.length - maxListed} more` : '';
  const names = paths.slice(0, maxListed).map(showPath).join(', ');
  return `${run}: left out of its workspaces, because git would run what they say: ${names}${more}`;
}
