import { type RecordedRun, recordedRun } from '../../environment/index.ts';
import type { ObjectId, RunParent, Spent } from '../../schema/index.ts';
import {
  historyOf,
  lastSnapshot,
  ownEvents,
  type RunFolder,
  readTraceSync,
  resolveText,
  sessionsOf,
  spentOf,
} from '../../store/index.ts';
import { mainBranch } from './branch-workspace.ts';

/** What earlier sessions of a run left, from its trace. */
export interface ResumeState {
  sessions: number;
  secondsUsed: number;
  spent: Spent;
  recorded: RecordedRun;
  /** The workspace of `main` after its last finished step; null before the first session. */
  workspace: { step: number; snapshot: ObjectId } | null;
  /** The model that answered each call, in order. */
  answeredBy: (string | null)[];
  /** Whether the run has only what it was forked with. */
  onlyForked: boolean;
}

export function readResumeState({ tracePath, objects }: RunFolder, parent?: RunParent): ResumeState {
  const { events } = readTraceSync(tracePath);
  return {
    ...sessionsOf(events),
    spent: spentOf(events),
    recorded: recordedRun(events, (ref) => resolveText(objects, ref)),
    workspace: lastSnapshot(historyOf(events, mainBranch)),
    answeredBy: events.flatMap((event) => (event.kind === 'model_call' ? [event.answered_by] : [])),
    onlyForked: parent !== undefined && ownEvents(events, parent).length === 0,
  };
}
