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
  /** The workspace was just restored, see `SnapshotTaker.expectRestored`. */
  | { kind: 'expect'; workspace: number; id: ObjectId }
  | { kind: 'restore'; objects: string; id: ObjectId; folder: string; ignore: readonly string[] }
  /** Restores a snapshot of a workspace into another folder. */
  | { kind: 'copy'; workspace: number; id: ObjectId; folder: string; ignore: readonly string[] }
  | { kind: 'remove'; folder: string };

export interface JobResult {
  summary: SnapshotSummary | null;
  /** What the job added to the store. */
  writtenBytes: number;
}
