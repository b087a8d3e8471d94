import { crashCause } from '../lib/crash-cause.ts';
import { plainLine } from '../lib/plain-line.ts';
import { isImported, type RunPlace, type RunRecord, type RunState } from '../schema/index.ts';
import type { RunQueue } from './fleet.ts';
import type { RunFolder } from './run-folder.ts';
import { statusOf, waitNow } from './run-status.ts';

/** For error messages, which may be long. */
const mostWhy = 200;

/** For a run that has not begun. */
export function queuedPlace(run: string, { executor, unqueued }: RunQueue): RunPlace {
  const reason = unqueued.get(run);
  if (reason === undefined) return { state: 'queued', where: executor ?? '', why: '' };
  return { state: reason.state, where: '', why: plainLine(reason.why, mostWhy) };
}

/** @throws UserError as `RunFolder.readRecord` */
export function placeOf(folder: RunFolder, queue: RunQueue): RunPlace {
  const record = folder.readRecord();
  const state = statusOf(folder, record);
  if (record === null || state === 'pending') {
    const holder = folder.holder();
    if (holder === null) return queuedPlace(folder.id, queue);
    return { state: 'starting', where: `${holder.host}, process ${holder.pid}`, why: '' };
  }
  const reason = state === 'interrupted' ? queue.unqueued.get(folder.id) : undefined;
  if (reason !== undefined) return { state, where: '', why: plainLine(reason.why, mostWhy) };
  const where = state === 'running' ? whereOf(folder, record) : '';
  return { state, where, why: whyOf(state, folder, record, queue) };
}

function whereOf(folder: RunFolder, { host, pid, gpus }: RunRecord): string {
  const holder = folder.holder();
  const process = `process ${holder?.pid ?? pid}`;
  return [holder?.host ?? String(host.name ?? ''), process, ...(gpus?.uuids ?? [])].join(', ');
}

function whyOf(state: RunState, folder: RunFolder, record: RunRecord, { executor }: RunQueue): string {
  if (state === 'waiting') return waitNow(folder, record);
  if (state === 'interrupted') {
    if (isImported(record.spec)) return 'its recording ends here';
    if (executor?.startsWith('redis') !== true) return 'stopped; the same mlab run resumes it';
    if (record.status === 'interrupted') return 'its worker was stopped; the job is given to another';
    const { host, pid } = record;
    return `its worker on ${String(host.name ?? '')} (process ${pid}) is gone; the job is given to another`;
  }
  if (state !== 'failed' || record.end === null) return '';
  const { cause, message } = record.end;
  const why = crashCause(message);
  return plainLine(cause === undefined ? why : `${cause}: ${why}`, mostWhy);
}
