import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RunStopped, RunWaits } from '../../environment/index.ts';
import { limitsHeld } from '../../sandbox/index.ts';
import type { RunRecord, RunSpec } from '../../schema/index.ts';
import type { RunFolder } from '../../store/index.ts';
import { discardSessions } from '../outside/agent-session.ts';
import { branchFolders, discardBranchWorkspace, mainBranch } from './branch-workspace.ts';
import { awaited } from './gate-on-disk.ts';
import { infrastructureFailure } from './run-failure.ts';
import { beginRecord, endRecord, recordedEnd, recordedSoFar } from './run-record.ts';
import type { RunServices } from './run-services.ts';
import { executeSession } from './run-session.ts';

/**
 * Executes one run, from the start or from where an earlier session ended, and returns its record. Every ending is a
 * value: a fault of the agent, an infrastructure failure, or a stop. The caller holds the run's lease.
 * @throws UserError `lease_lost`
 */
export async function executeRun(spec: RunSpec, given: RunServices): Promise<RunRecord> {
  // A separate count: what other runs add to the shared store counts for them.
  const folder = given.folder.counted();
  const services = { ...given, folder };
  const hasBegun = folder.readRecord() !== null;
  const record = await beginRecord(spec, folder, services.versions, await limitsHeld(spec.sandbox));
  const gpusUsed = () => (services.gpus === undefined ? {} : { gpus: services.gpus.added(record.gpus) });
  try {
    const ended = hasBegun ? recordedEnd(folder) : null;
    const outcome = ended ?? (await executeSession(spec, services));
    folder.lease?.verify();
    await discardWorkspace(folder, services.signal);
    discardSessions(folder);
    const finished = await endRecord(record, folder, { ...outcome, ...gpusUsed() });
    await compressTrace(folder);
    return finished;
  } catch (error) {
    const done = { ...recordedSoFar(folder), ...gpusUsed() };
    if (error instanceof RunStopped || services.signal.aborted)
      return await endRecord(record, folder, { status: 'interrupted', ...done });
    if (error instanceof RunWaits)
      return await endRecord(record, folder, { status: 'waiting', waits_for: awaited(error), ...done });
    return await endRecord(record, folder, { status: 'failed', end: infrastructureFailure(error), ...done });
  }
}

/** Ends a run that can't be executed, as an infrastructure failure. The caller holds its lease. */
export async function failRun(
  spec: RunSpec,
  { folder, versions }: Pick<RunServices, 'folder' | 'versions'>,
  error: unknown,
): Promise<RunRecord> {
  const record = await beginRecord(spec, folder, versions, {});
  const end = infrastructureFailure(error);
  return await endRecord(record, folder, { status: 'failed', end, ...recordedSoFar(folder) });
}

async function discardWorkspace(folder: RunFolder, signal: AbortSignal): Promise<void> {
  const main = branchFolders(folder, mainBranch);
  await rm(main.brief, { force: true });
  for (const branch of openedBranches(folder)) {
    await discardBranchWorkspace(branchFolders(folder, branch), signal);
  }
  await discardBranchWorkspace(main, signal);
}

/** Branches that have had a workspace, without `main`. */
function openedBranches({ folder }: RunFolder): string[] {
  const branches = join(folder, 'branches');
  return existsSync(branches) ? readdirSync(branches) : [];
}

/** A trace that can't be compressed, on a full disk say, stays as it is. */
export async function compressTrace(folder: RunFolder): Promise<void> {
  try {
    await folder.compressTrace();
  } catch {
    // The next `mlab run` of the experiment tries again.
  }
}
