import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import type { RunFolder } from '../../store/index.ts';
import { breathe } from '../breathe.ts';
import { type RecordedRun, readRecordedRun } from './recorded-run.ts';
import { writeTables } from './to-csv.ts';
import { writeRepository } from './to-git.ts';
import { writeJsonLines } from './to-jsonl.ts';
import { originalPlaces, writeLogFolder } from './to-mlagentbench.ts';

export const exportFormats = ['mlagentbench', 'jsonl', 'csv', 'git'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export interface ExportOptions {
  folders: readonly RunFolder[];
  to: ExportFormat;
  /** A new or an empty folder. */
  out: string;
  /** Of the process, for git: where it lies. */
  variables: Readonly<Record<string, string | undefined>>;
  onProgress: (message: string) => void;
  signal: AbortSignal;
}

export interface ExportResult {
  /** Absolute path. */
  folder: string;
  runs: { run: string; steps: number }[];
}

/**
 * Writes runs in a format that others read. Runs that have not begun are left out.
 * @throws UserError `not_empty`, `no_runs`, and of the format
 */
export async function exportRuns(options: ExportOptions): Promise<ExportResult> {
  const { folders, to, onProgress, variables, signal } = options;
  const out = resolve(options.out);
  const runs: RecordedRun[] = [];
  for (const folder of folders) {
    await breathe(signal);
    const run = readRecordedRun(folder);
    if (run !== null) runs.push(run);
  }
  if (runs.length === 0)
    throw new UserError('no_runs', 'None of these runs has begun.', 'Run them first, with: mlab run');
  refuseOccupied(out);
  mkdirSync(out, { recursive: true });
  if (to === 'csv') await writeTables(runs, out, signal);
  else if (to === 'git') await writeRepository(runs, out, variables, signal);
  else await writeEach(runs, to, out, { onProgress, signal });
  return { folder: out, runs: runs.map(({ folder, steps }) => ({ run: folder.id, steps: steps.length })) };
}

async function writeEach(
  runs: readonly RecordedRun[],
  to: 'jsonl' | 'mlagentbench',
  out: string,
  { onProgress, signal }: Pick<ExportOptions, 'onProgress' | 'signal'>,
): Promise<void> {
  const places = originalPlaces(runs);
  for (const run of runs) {
    await breathe(signal);
    if (to === 'jsonl') await writeJsonLines(run, out, signal);
    else await writeLogFolder(run, join(out, places.get(run) ?? run.folder.id), signal);
    onProgress(`${run.folder.id}: ${run.steps.length} steps`);
  }
}

function refuseOccupied(out: string): void {
  const state = statSync(out, { throwIfNoEntry: false });
  if (state === undefined || (state.isDirectory() && readdirSync(out).length === 0)) return;
  throw new UserError(
    'not_empty',
    `${out} is there already, and is no empty folder.`,
    'Give a new or an empty folder.',
  );
}
