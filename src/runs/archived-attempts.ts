import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';
import {
  attemptFolder,
  attemptNumbers,
  formerLockName,
  leaseName,
  movingAttempt,
  type RunFolder,
  resultsLockName,
} from '../store/index.ts';

/**
 * Archives an incomplete run, so that it can start over. The lease stays where it is. Its workspaces are deleted: what
 * its steps kept of them is in the store.
 */
export async function archiveAttempt(run: RunFolder): Promise<void> {
  await finishArchiving(run);
  if (existsSync(run.recordPath)) await run.withoutResults(() => moveAttempt(run));
}

/** Completes what a process began that was killed while it archived an attempt. The caller holds the run's lease. */
export async function finishArchiving(run: RunFolder): Promise<void> {
  if (existsSync(movingAttempt(run))) await run.withoutResults(() => moveAttempt(run));
}

function moveAttempt(run: RunFolder): void {
  const { folder, recordPath } = run;
  const moving = movingAttempt(run);
  mkdirSync(moving, { recursive: true });
  const record = basename(recordPath);
  // The record is moved last: while it is in its place, the run is known to have begun. After that, files in its place
  // belong to another attempt.
  if (!existsSync(join(moving, record))) {
    const stays = [leaseName, formerLockName, resultsLockName, record];
    removeWorkspaces(folder);
    const others = readdirSync(folder).filter((name) => !stays.includes(name));
    for (const name of [...others, record]) moveInto(moving, folder, name);
  }
  // By the run's own attempts: elsewhere, those of other runs may not be there.
  renameSync(moving, attemptFolder(run, Math.max(0, ...attemptNumbers(run)) + 1));
}

/** Each start over of a run that fills the disk would take as much again. */
function removeWorkspaces(folder: string): void {
  const branches = join(folder, 'branches');
  const named = existsSync(branches) ? readdirSync(branches).map((name) => join(branches, name)) : [];
  for (const home of [folder, ...named])
    for (const name of readdirSync(home)) if (name.startsWith('workspace')) removeTree(join(home, name));
}

/** A run that was fetched again from a store may have what was moved before. */
function moveInto(target: string, folder: string, name: string): void {
  rmSync(join(target, name), { recursive: true, force: true });
  renameSync(join(folder, name), join(target, name));
}
