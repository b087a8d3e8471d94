import type { ObjectId } from '../../schema/index.ts';
import type { SnapshotSummary } from '../snapshot-summary.ts';
import type { SnapshotOptions, TakerState } from '../snapshot-taker.ts';

/** A workspace whose snapshots a thread takes from now on. */
export interface HandedOver {
  folder: string;
  /** Folder of the objects. */
  objects: string;
  state: TakerState;
}

/** A job for a thread of the store. Workspaces have numbers, and stay with their thread. */
export type StoreJob =
  | { kind: 'adopt'; workspace: number; handed: HandedOver }
  | { kind: 'release'; workspace: number }
  | { kind: 'snapshot'; workspace: number; options: Omit<SnapshotOptions, 'signal'> }
  /** @param from another workspace of the thread */
  | { kind: 'restore'; workspace: number; id: ObjectId; ignore: readonly string[]; from: number | null }
  | { kind: 'remove'; folder: string };

export interface StoreJobResult {
  summary: SnapshotSummary | null;
  /** What the job added to the store. */
  writtenBytes: number;
}
