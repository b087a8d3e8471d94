import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { removeDrafts, replaceFile, writeFileAtomically } from '../lib/atomic-file.ts';
import { UserError } from '../lib/errors.ts';
import { withFileLock } from '../lib/file-lock.ts';
import { Grade, RubricJudgement, RunId, RunRecord, type TraceHead, Verification } from '../schema/index.ts';
import { compressTrace } from './compress-trace.ts';
import { parseStoredText, readTextIfThere } from './documents.ts';
import type { LeaseHolder, RunLease } from './lease/run-lease.ts';
import { leaseHolder, type TakeLeaseOptions, takeLease, takeLeaseNow } from './lease/take-lease.ts';
import { moveToNewFile } from './move-to-new-file.ts';
import type { ObjectStore } from './object-store.ts';
import { appendStoredLine, readStoredLines } from './stored-lines.ts';
import { compressedPath } from './trace-bytes.ts';
import { TraceWriter } from './trace-writer.ts';

export interface StoredGrades {
  grades: Grade[];
  /** Lines that hold no grade, such as one that a killed process left half written. */
  problems: string[];
}

export interface StoredVerifications {
  verifications: Verification[];
  /** Lines that hold none. */
  problems: string[];
}

/** Folder of the lock of those who write results, in a run's folder; there only while one does. */
export const resultsLockName = 'results-lock';

/** The files of one run: record, trace, grades, verifications, ratings by models, the lease; and the objects that runs share. */
export class RunFolder {
  readonly id: RunId;
  /** Absolute path. */
  readonly folder: string;
  readonly objects: ObjectStore;
  readonly recordPath: string;
  /** Where the trace is written; when it is compressed, it lies beside. All functions that read traces take this path. */
  readonly tracePath: string;
  readonly gradesPath: string;
  readonly verificationsPath: string;
  readonly rubricPath: string;
  /** Holds outputs that are too long for an observation, see `outputFile`. */
  readonly outputsFolder: string;
  #writer: TraceWriter | null = null;
  #lease: RunLease | null = null;

  /** @param folder absolute path, named after the run; need not exist yet */
  constructor(folder: string, objects: ObjectStore) {
    this.id = RunId.parse(basename(folder));
    this.folder = folder;
    this.objects = objects;
    this.recordPath = join(folder, 'run.json');
    this.tracePath = join(folder, 'trace.jsonl');
    this.gradesPath = join(folder, 'grades.jsonl');
    this.verificationsPath = join(folder, 'verifications.jsonl');
    this.rubricPath = join(folder, 'rubric.jsonl');
    this.outputsFolder = join(folder, 'outputs');
  }

  /** The same folder, with the same lease, that counts what it adds to the objects. */
  counted(): RunFolder {
    const folder = new RunFolder(this.folder, this.objects.counted());
    folder.#lease = this.#lease;
    return folder;
  }

  /** Makes the folder and takes its lease, which whoever writes the trace or the record must hold; see `takeLeaseNow`. */
  lock(): RunLease {
    this.#lease = takeLeaseNow(this.folder);
    this.#clearDrafts(this.#lease);
    return this.#lease;
  }

  /** The same, with time to see whether a silent owner elsewhere is still there; see `takeLease`. */
  async acquire(options: TakeLeaseOptions = {}): Promise<RunLease> {
    this.#lease = await takeLease(this.folder, options);
    this.#clearDrafts(this.#lease);
    return this.#lease;
  }

  /** Who was killed while it wrote the record left a part of it. */
  #clearDrafts({ follows }: RunLease): void {
    if (follows !== null) removeDrafts(this.recordPath);
  }

  /** The lease that this process holds. */
  get lease(): RunLease | null {
    return this.#lease?.released === false ? this.#lease : null;
  }

  /** Who works on the run now; null when nobody does. */
  holder(): LeaseHolder | null {
    return leaseHolder(this.folder);
  }

  /** Opens the trace for writing, see `TraceWriter.open`. From now on `writeRecord` notes how long it is. */
  openTrace(now?: () => number): TraceWriter {
    const guard = this.lease ?? undefined;
    // Whoever had it may still have it open.
    if (guard?.followsSilence) moveToNewFile(this.tracePath);
    this.#writer = TraceWriter.open(this.tracePath, this.objects, { now, guard });
    return this.#writer;
  }

  /** Whether there is a trace, compressed or not. */
  hasTrace(): boolean {
    return existsSync(this.tracePath) || existsSync(compressedPath(this.tracePath));
  }

  /** Compresses the trace of a run that has ended, see `compressTrace`. */
  async compressTrace(): Promise<void> {
    const { lease } = this;
    await compressTrace(this.tracePath, () => lease?.verify());
  }

  removeTrace(): void {
    for (const path of [this.tracePath, compressedPath(this.tracePath)]) rmSync(path, { force: true });
  }

  /**
   * Null when the run has none yet.
   * @throws UserError `broken_file`, `future_version`
   */
  readRecord(): RunRecord | null {
    const text = readTextIfThere(this.recordPath);
    return text === null ? null : parseStoredText(RunRecord, text, this.recordPath);
  }

  /**
   * Replaces `run.json` in one step, and notes in it what the trace holds. The trace is flushed first, so that no
   * power cut leaves a record that knows more than the trace.
   * @throws UserError `lease_lost`, and nothing is written
   */
  async writeRecord(record: RunRecord): Promise<void> {
    const head = await this.#writer?.flush();
    this.lease?.verify();
    await replaceFile(this.recordPath, this.#recordText(record, head));
  }

  /** As `writeRecord`, for those who can't wait. */
  writeRecordSync(record: RunRecord): void {
    if (this.#writer?.closed === false) this.#writer.sync();
    this.lease?.verify();
    writeFileAtomically(this.recordPath, this.#recordText(record, this.#writer?.head));
  }

  /**
   * Writes what was found out about an attempt at the run: grades, verifications, ratings. One process at a time does, whoever
   * has the run's lease: a run may be judged while it goes on.
   * @param attempt the record of the attempt that was judged
   * @param write reads what is there by now, and adds to it
   * @throws UserError `attempt_gone` where the run was started over since, and nothing is written; the signal's reason
   */
  async writeResults<Result>(
    attempt: RunRecord,
    signal: AbortSignal | null,
    write: () => Result,
  ): Promise<Result> {
    return await withFileLock(this.#resultsLock, { signal }, async () => {
      if (this.readRecord()?.started === attempt.started) return write();
      throw new UserError(
        'attempt_gone',
        `The run ${this.id} was restarted while results were written for it.`,
        'Try again when the new attempt has ended.',
      );
    });
  }

  /** Keeps everybody from writing results while the files of an attempt are put away. */
  async withoutResults<Result>(work: () => Result): Promise<Result> {
    return await withFileLock(this.#resultsLock, {}, async () => work());
  }

  get #resultsLock(): string {
    return join(this.folder, resultsLockName);
  }

  /** Adds one line to `grades.jsonl`. @throws UserError `lease_lost`, and nothing is added */
  appendGrade(grade: Grade): void {
    this.lease?.verify();
    mkdirSync(this.folder, { recursive: true });
    appendStoredLine(this.gradesPath, Grade.parse(grade));
  }

  /** All gradings, in the order in which they were made; see `readStoredLines`. */
  readGrades(): StoredGrades {
    const { values, problems } = readStoredLines(Grade, this.gradesPath);
    return { grades: values, problems };
  }

  /** Adds one line to `verifications.jsonl`. */
  appendVerification(verification: Verification): void {
    mkdirSync(this.folder, { recursive: true });
    appendStoredLine(this.verificationsPath, Verification.parse(verification));
  }

  /** All verifications, in the order in which they were made; none where it was never verified. */
  readVerifications(): StoredVerifications {
    const { values, problems } = readStoredLines(Verification, this.verificationsPath);
    return { verifications: values, problems };
  }

  /** Adds one line to `rubric.jsonl`. */
  appendJudgement(judgement: RubricJudgement): void {
    appendStoredLine(this.rubricPath, RubricJudgement.parse(judgement));
  }

  /** What models made of the run, in the order in which they were asked; lines that hold nothing are left out. */
  readJudgements(): RubricJudgement[] {
    return readStoredLines(RubricJudgement, this.rubricPath).values;
  }

  #recordText(record: RunRecord, head: TraceHead | undefined): string {
    if (record.spec.id !== this.id)
      throw new Error(`the record of ${record.spec.id} does not belong to ${this.id}`);
    const trace = head ?? record.trace;
    // Readers of version 1 would not find the trace of a run that has ended, those of version 2 know of none that waits.
    const v = record.status === 'waiting' ? 3 : record.status === 'finished' ? 2 : 1;
    const checked = RunRecord.parse({ ...record, v, ...(trace ? { trace } : {}) });
    return `${JSON.stringify(checked, null, 2)}\n`;
  }
}

/** The file of the outputs folder that holds what a step printed. Sorted by name they are in the order of steps. */
export function outputFile(step: number): string {
  return `step-${String(step).padStart(5, '0')}.txt`;
}
