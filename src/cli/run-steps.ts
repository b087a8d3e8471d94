import { UserError } from '../lib/errors.ts';
import type { ObjectId } from '../schema/index.ts';
import { historyOf, type RunFolder, readTraceSync, snapshotsByStep, statesOf } from '../store/index.ts';

/** The workspace after a step. */
interface NamedState {
  number: number;
  snapshot: ObjectId;
  /** The run ended with it. */
  isEnd: boolean;
}

/** The workspace after a step that a person named by its number; `last`: at the end, whether in a step or not. */
export function snapshotOfStep(folder: RunFolder, step: string): NamedState {
  const { events } = readTraceSync(folder.tracePath);
  const snapshots = snapshotsByStep(historyOf(events));
  const end = step === 'last' ? statesOf(events).at(-1) : undefined;
  if (end?.final === true) return { number: end.step, snapshot: end.snapshot, isEnd: true };
  const last = Math.max(0, ...snapshots.keys());
  const number = step === 'last' ? last : Number(step);
  const snapshot = snapshots.get(number);
  if (snapshot !== undefined) return { number, snapshot, isEnd: false };
  throw new UserError(
    'unknown_step',
    `The run ${folder.id} has no step "${step}".`,
    `It has the steps 0 to ${last}.`,
  );
}
