export { encodePath, showPath } from '../lib/path-text.ts';
export { archivedAttempts, attemptFolder, attemptNumbers, movingAttempt } from './archived-attempts.ts';
export {
  BranchReader,
  branchesOf,
  foldHistory,
  historyOf,
  isInLineage,
  type Lineage,
  lineageOf,
  mainLineage,
  type RecordedBranch,
} from './branches.ts';
export {
  type CheckOptions,
  checkRun,
  missingEvents,
  type StoreProblem,
  type StoreProblemCode,
} from './check-run.ts';
export { ConversationRecorder } from './conversation-recorder.ts';
export { Conversation, Conversations } from './conversations.ts';
export { addDecision, decisionName, openProposals, type Proposal, readDecision } from './decisions.ts';
export {
  diffSnapshots,
  type FileDifference,
  type PathDifference,
  unifiedDiff,
} from './diff.ts';
export { parseStoredText } from './documents.ts';
export {
  branchesIn,
  branchesName,
  createExperiment,
  type Experiment,
  listExperiments,
  misnamedExperiments,
  openExperiment,
  recordedExecutor,
} from './experiment.ts';
export type { SkipReason } from './file-reading.ts';
export { type Fleet, openFleet, queueOf, type RunQueue } from './fleet.ts';
export { forkRun, spentUntil } from './fork.ts';
export { thisProcess } from './lease/lease-owner.ts';
export type { LeaseHolder, LeaseTimes, RunLease } from './lease/run-lease.ts';
export { formerLockName, leaseName, leaveFreeLease, takeLease, takeLeaseNow } from './lease/take-lease.ts';
export { limitsHeldText } from './limits-held.ts';
export { locateObject, objectIds, readStored } from './object-reader.ts';
export { ObjectStore } from './object-store.ts';
export { type PerformedAction, PerformedActions, type TracedAction } from './performed-actions.ts';
export {
  currentGrades,
  type RecordedState,
  recordedStates,
  StateReader,
  stateAfter,
  statesOf,
  statesOfTree,
} from './recorded-states.ts';
export { beginningOf, recordingOf } from './recording.ts';
export { objectsOfRun } from './references.ts';
export { removeExperiment } from './remove-experiment.ts';
export { removeFolder } from './remove-folder.ts';
export { isOwnFolder, plainName, withoutRepositories } from './repositories.ts';
export { type RestoreOptions, restoreSnapshot } from './restore.ts';
export {
  outputFile,
  RunFolder,
  resultsLockName,
  type StoredGrades,
  type StoredVerifications,
} from './run-folder.ts';
export { placeOf, queuedPlace } from './run-place.ts';
export { decidedIn, decisionWait, statusOf } from './run-status.ts';
export { checkFiles, isSafePath, readSnapshot, storeSnapshot } from './snapshot-file.ts';
export { type FirstFile, type SnapshotSummary, unchangedSince } from './snapshot-summary.ts';
export type { SnapshotOptions } from './snapshot-taker.ts';
export { Snapshotter } from './snapshotter.ts';
export {
  addCall,
  lastSnapshot,
  nothingSpent,
  ownEvents,
  sessionsOf,
  snapshotsByStep,
  spentOf,
  stepsOf,
  type TakenStep,
} from './steps.ts';
export { submissionHash } from './submission.ts';
export { openTraceBytes, type TraceBytes } from './trace-bytes.ts';
export { readLines } from './trace-lines.ts';
export {
  eachEventSync,
  type ReadTraceOptions,
  readTrace,
  readTraceSync,
  resolveText,
} from './trace-reader.ts';
export { TraceWriter } from './trace-writer.ts';
export {
  lastCancelled,
  noteCancelling,
  noteUnqueued,
} from './unqueued.ts';
export type { SkippedEntry } from './workspace-walk.ts';
