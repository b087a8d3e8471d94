import { UserError } from '../lib/errors.ts';
import type { ObjectId } from '../schema/index.ts';
import { historyOf, type RunFolder, readTraceSync, snapshotsByStep } from '../store/index.ts';

/** The snapshot after a step that a person named by its number, or as `last`. */
export function snapshotOfStep(folder: RunFolder, step: string): { number: number; snapshot: ObjectId } {
  const snapshots = snapshotsByStep(historyOf(readTraceSync(folder.tracePath).events));
  const last = Math.max(0, ...snapshots.keys());
  const number = step === 'last' ? last : Number(step);
  const snapshot = snapshots.get(number);
  if (snapshot !== undefined) return { number, snapshot };
  throw new UserError(
    'unknown_step',
    `The run ${folder.id} has no step "${step}".`,
    `It has the steps 0 to ${last}.`,
  );
}
