import { UserError } from '../lib/errors.ts';
import type { ObjectId } from '../schema/index.ts';
import {
  historyOf,
  type RecordedState,
  type RunFolder,
  readTraceSync,
  snapshotsByStep,
  statesOf,
} from '../store/index.ts';

/** The workspace after a step. */
interface NamedState {
  number: number;
  snapshot: ObjectId;
  /** What of the workspace is not in the snapshot. */
  skipped: NonNullable<RecordedState['skipped']>;
  /** The run ended with it. */
  isEnd: boolean;
}

/** The workspace after a step that a person named by its number; `last`: at the end, whether in a step or not. */
export function snapshotOfStep(folder: RunFolder, step: string): NamedState {
  const { events } = readTraceSync(folder.tracePath);
  const history = historyOf(events);
  const snapshots = snapshotsByStep(history);
  const end = step === 'last' ? statesOf(events).at(-1) : undefined;
  if (end?.final === true)
    return { number: end.step, snapshot: end.snapshot, skipped: end.skipped ?? [], isEnd: true };
  const last = Math.max(0, ...snapshots.keys());
  const number = step === 'last' ? last : /^\d+$/.test(step) ? Number(step) : Number.NaN;
  const snapshot = snapshots.get(number);
  const taken = history.find((event) => event.kind === 'step_finished' && event.step === number);
  const skipped = taken?.kind === 'step_finished' ? (taken.skipped ?? []) : [];
  if (snapshot !== undefined) return { number, snapshot, skipped, isEnd: false };
  throw new UserError(
    'unknown_step',
    `The run ${folder.id} has no step "${step}".`,
    `It has the steps 0 to ${last}.`,
  );
}
