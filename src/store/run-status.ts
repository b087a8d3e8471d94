import type { RunRecord, RunStatus } from '../schema/index.ts';
import { isDecided } from './decisions.ts';
import type { RunFolder } from './run-folder.ts';

/** The status in the record, unless the run's process ended without recording it. */
export function statusOf(folder: RunFolder, record: RunRecord | null): RunStatus {
  if (record === null) return 'pending';
  if (record.status === 'running' && folder.holder() === null) return 'interrupted';
  return record.status;
}

/** What a run waits for, in words; empty if it does not wait. */
export function decisionWait({ status, waits_for: awaited = [] }: RunRecord): string {
  return status === 'waiting' ? `waits for a decision on ${actionsText(awaited)}` : '';
}

/** As `decisionWait`; if somebody has decided and no process has continued the run yet, what continues it. */
export function waitNow(folder: RunFolder, record: RunRecord): string {
  const decided = decidedIn(folder, record);
  if (decided.length === 0) return decisionWait(record);
  return `decided on ${actionsText(decided)}; the same mlab run command continues it`;
}

/** The actions of a waiting run on which somebody has decided: it can be continued. */
export function decidedIn(folder: RunFolder, { status, waits_for: awaited = [] }: RunRecord): Awaited {
  return status === 'waiting' ? awaited.filter(({ decision }) => isDecided(folder, decision)) : [];
}

type Awaited = NonNullable<RunRecord['waits_for']>;

function actionsText(awaited: Awaited): string {
  const actions = awaited.map(
    ({ branch, step, action }) => `step ${step}${branch === 'main' ? '' : ` of ${branch}`} (${action})`,
  );
  return actions.join(', ');
}
