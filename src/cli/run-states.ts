import type { RunRecord } from '../schema/index.ts';
import { decisionWait, type Fleet, type RunFolder, statusOf } from '../store/index.ts';
import { oneLine } from './table.ts';

/** What a run of a fleet does now. `starting`: somebody has it, and nothing of it is recorded yet. */
export const runStates = [
  'queued',
  'starting',
  'running',
  'waiting',
  'finished',
  'interrupted',
  'failed',
] as const;
export type RunState = (typeof runStates)[number];

export interface RunPlace {
  state: RunState;
  /** Host, process and GPUs; of what is queued elsewhere, with whom. Empty where it is nowhere. */
  where: string;
  /** What it waits for, or why it failed. */
  why: string;
}

/** Of runs that nobody has begun. */
export function queuedPlace(fleet: Pick<Fleet, 'executor'>): RunPlace {
  return { state: 'queued', where: fleet.executor ?? '', why: '' };
}

export function placeOf(folder: RunFolder, fleet: Pick<Fleet, 'executor'>): RunPlace {
  const record = folder.readRecord();
  const state = statusOf(folder, record);
  if (record === null || state === 'pending') {
    const holder = folder.holder();
    if (holder === null) return queuedPlace(fleet);
    return { state: 'starting', where: `${holder.host}, process ${holder.pid}`, why: '' };
  }
  return { state, where: state === 'running' ? whereOf(folder, record) : '', why: whyOf(state, record) };
}

function whereOf(folder: RunFolder, { host, pid, gpus }: RunRecord): string {
  const holder = folder.holder();
  const process = `process ${holder?.pid ?? pid}`;
  return [holder?.host ?? String(host.name ?? ''), process, ...(gpus?.uuids ?? [])].join(', ');
}

function whyOf(state: RunState, record: RunRecord): string {
  if (state === 'waiting') return decisionWait(record);
  if (state === 'interrupted') return 'stopped; the same mlab run goes on with it';
  if (state !== 'failed' || record.end === null) return '';
  const { cause, message } = record.end;
  return oneLine(cause === undefined ? message : `${cause}: ${message}`, 80);
}

/** `10000 runs: 9980 queued, 20 running`, and of failures how many of each kind. */
export function countsText(places: readonly RunPlace[]): string {
  const counts = runStates.flatMap((state) => {
    const count = places.filter((place) => place.state === state).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  return `${places.length} ${places.length === 1 ? 'run' : 'runs'}: ${counts.join(', ')}`;
}
