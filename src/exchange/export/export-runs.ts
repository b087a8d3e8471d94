import { join } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import type { ObjectId } from '../../schema/index.ts';
import { checkFiles, type RunFolder, showPath } from '../../store/index.ts';
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
  /** Runs whose files are damaged, by their ids: they are left out. */
  unreadable: string[];
}

/**
 * Writes runs in a format that others read, atomically. Runs that have not begun are left out.
 * @throws UserError `not_empty`, `no_runs`, `part_left`, `broken_file` if no run can be read, and those of the format
 */
export async function exportRuns(options: RunExportOptions): Promise<ExportResult> {
  const { runs, unreadable } = await readableRuns(options);
  if (runs.length === 0 && unreadable.length === 0)
    throw new UserError('no_runs', 'None of these runs has started.', 'Run them first, with: mlab run');
  if (runs.length === 0)
    throw new UserError(
      'broken_file',
      `No run can be read: ${unreadable.join(', ')}.`,
      'mlab runs check names what is damaged.',
    );
  const written: ExportResult['runs'] = [];
  const folder = await writeIntoNewFolder(options, (part) => writeAs(runs, part, options, written));
  return { folder, runs: written, unreadable };
}

/** The runs that have begun. Each is read once before, because a format must know all that it will contain. */
async function readableRuns({ folders, to, onProgress, signal }: RunExportOptions) {
  const runs: BegunRun[] = [];
  const unreadable: string[] = [];
  for (const folder of folders) {
    await yieldToSignals(signal);
    try {
      const record = folder.readRecord();
      if (record === null) continue;
      const run = readRecordedRun({ folder, record });
      if (to !== 'jsonl') await checkWorkspaces(run, signal);
      runs.push({ folder, record });
    } catch (error) {
      if (!UserError.isInstance(error)) throw error;
      unreadable.push(folder.id);
      onProgress(`${folder.id} can't be read and is left out: ${error.message}`);
    }
  }
  return { runs, unreadable };
}

/** @throws UserError if a file of its workspaces can't be read, or does not have the size that its snapshot says */
async function checkWorkspaces({ folder, started, steps, end }: ExportedRun, signal: AbortSignal) {
  const snapshots = [started?.snapshot, ...steps.map(({ finished }) => finished.snapshot), end?.snapshot];
  const measured = new Map<ObjectId, number>();
  for (const id of new Set(snapshots)) if (id) await checkFiles(folder.objects, id, measured, signal);
}

async function writeAs(
  runs: readonly BegunRun[],
  out: string,
  options: RunExportOptions,
  written: ExportResult['runs'],
): Promise<void> {
  const { to, variables, onProgress, signal } = options;
  const read = readOneByOne(runs, options, written);
  if (to === 'git') await writeRepository(runs, read, out, variables, signal);
  else {
    const places = originalPlaces(runs);
    for await (const run of read) {
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

/** In the memory of one run; notes each once it is written. */
async function* readOneByOne(
  runs: readonly BegunRun[],
  { onProgress, signal }: RunExportOptions,
  written: ExportResult['runs'],
): AsyncGenerator<ExportedRun> {
  for (const one of runs) {
    await yieldToSignals(signal);
    const run = readRecordedRun(one);
    yield run;
    const { length: steps } = run.steps;
    written.push({ run: one.folder.id, steps });
    const hasEnded = one.record.status === 'finished' || one.record.status === 'failed';
    onProgress(`${one.folder.id}: steps: ${steps}${hasEnded ? '' : '; it has not ended'}`);
  }
}

function leftOutText(run: string, paths: readonly string[]): string {
  const more = paths.length > maxListed ? ` and ${paths.length - maxListed} more` : '';
  const names = paths.slice(0, maxListed).map(showPath).join(', ');
  return `${run}: left out of its workspaces, because git would run what they say: ${names}${more}`;
}
