import { accessSync, constants, existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { removeDrafts, replaceFile, writeFileAtomically } from '../lib/atomic-file.ts';
import { UserError } from '../lib/errors.ts';
import { tryFileLock, withFileLock } from '../lib/file-lock.ts';
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
  /** Lines that are not a grade, such as one that a killed process left half written. */
  problems: string[];
}

export interface StoredVerifications {
  verifications: Verification[];
  /** Lines that are not a verification. */
  problems: string[];
}

/** Folder of the lock for writing results, in a run's folder; it exists only while a process writes. */
export const resultsLockName = 'results-lock';

/**
 * The files of one run: record, trace, grades, verifications, ratings by models, the lease; and the objects that runs
 * share.
 */
export class RunFolder {
  readonly id: RunId;
  /** Absolute path. */
  readonly folder: string;
  readonly objects: ObjectStore;
  readonly recordPath: string;
  /**
   * The path of the uncompressed trace; a compressed one is beside it. All functions that read traces take this path.
   */
  readonly tracePath: string;
  readonly gradesPath: string;
  readonly verificationsPath: string;
  readonly rubricPath: string;
  /** Contains outputs that are too long for an observation, see `outputFile`. */
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

  /** The same folder, with the same lease, and a separate count of the objects it adds. */
  counted(): RunFolder {
    const folder = new RunFolder(this.folder, this.objects.counted());
    folder.#lease = this.#lease;
    return folder;
  }

  /**
   * Makes the folder and takes its lease, which is required for writing the trace or the record; see `takeLeaseNow`.
   */
  lock(): RunLease {
    this.#lease = takeLeaseNow(this.folder);
    this.#clearDrafts(this.#lease);
    return this.#lease;
  }

  /** The same, but waits to see whether a silent owner elsewhere is still alive; see `takeLease`. */
  async acquire(options: TakeLeaseOptions = {}): Promise<RunLease> {
    this.#lease = await takeLease(this.folder, options);
    this.#clearDrafts(this.#lease);
    return this.#lease;
  }

  /** A process that was killed while it wrote the record left a draft. */
  #clearDrafts({ follows }: RunLease): void {
    if (follows !== null) removeDrafts(this.recordPath);
  }

  /** The lease that this process holds. */
  get lease(): RunLease | null {
    return this.#lease?.released === false ? this.#lease : null;
  }

  /** The process that executes the run now; null if none does. */
  holder(): LeaseHolder | null {
    return leaseHolder(this.folder);
  }

  /** Opens the trace for writing, see `TraceWriter.open`. From now on `writeRecord` notes its length. */
  openTrace(now?: () => number): TraceWriter {
    const guard = this.lease ?? undefined;
    // The previous owner may still have it open.
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
   * Null if the run has none yet.
   * @throws UserError `broken_file`, `future_version`
   */
  readRecord(): RunRecord | null {
    const text = readTextIfThere(this.recordPath);
    return text === null ? null : parseStoredText(RunRecord, text, this.recordPath);
  }

  /**
   * Replaces `run.json` atomically, including what the trace contains. The trace is flushed first, so that after a
   * power cut no record is ahead of its trace.
   * @throws UserError `lease_lost`, and nothing is written
   */
  async writeRecord(record: RunRecord): Promise<void> {
    const head = await this.#writer?.flush();
    this.lease?.verify();
    await replaceFile(this.recordPath, this.#recordText(record, head));
  }

  /** As `writeRecord`, synchronously. */
  writeRecordSync(record: RunRecord): void {
    if (this.#writer?.closed === false) this.#writer.sync();
    this.lease?.verify();
    writeFileAtomically(this.recordPath, this.#recordText(record, this.#writer?.head));
  }

  /**
   * Writes results of an attempt at the run: grades, verifications, ratings. Only one process writes at a time,
   * independently of the run's lease: a run may be judged while it is executed.
   * @param attempt the record of the attempt that was judged
   * @param write reads the current results, and adds to them
   * @throws UserError `attempt_gone` if the run was restarted since, and nothing is written; the signal's reason
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

  /**
   * Checks that results could be written, before the work of making them.
   * @throws file-system errors such as EROFS
   */
  checkWritable(): void {
    accessSync(this.folder, constants.W_OK);
  }

  /** Prevents everybody from writing results while the files of an attempt are archived. */
  async withoutResults<Result>(work: () => Result): Promise<Result> {
    return await withFileLock(this.#resultsLock, {}, async () => work());
  }

  /** Removes the lock of a process that was killed while it wrote results. */
  freeResults(): void {
    if (!existsSync(this.#resultsLock)) return;
    const taken = tryFileLock(this.#resultsLock);
    if ('lock' in taken) taken.lock.release();
  }

  get #resultsLock(): string {
    return join(this.folder, resultsLockName);
  }

  /**
   * Adds one line to `grades.jsonl`.
   * @throws UserError `lease_lost`, and nothing is added
   */
  appendGrade(grade: Grade): void {
    this.lease?.verify();
    mkdirSync(this.folder, { recursive: true });
    appendStoredLine(this.gradesPath, Grade.parse(grade));
  }

  /** All grades, in the order in which they were made; see `readStoredLines`. */
  readGrades(): StoredGrades {
    const { values, problems } = readStoredLines(Grade, this.gradesPath);
    return { grades: values, problems };
  }

  /** Adds one line to `verifications.jsonl`. */
  appendVerification(verification: Verification): void {
    mkdirSync(this.folder, { recursive: true });
    appendStoredLine(this.verificationsPath, Verification.parse(verification));
  }

  /** All verifications, in the order in which they were made; none if it was never verified. */
  readVerifications(): StoredVerifications {
    const { values, problems } = readStoredLines(Verification, this.verificationsPath);
    return { verifications: values, problems };
  }

  /** Adds one line to `rubric.jsonl`. */
  appendJudgement(judgement: RubricJudgement): void {
    appendStoredLine(this.rubricPath, RubricJudgement.parse(judgement));
  }

  /** Ratings by models, in the order in which they were made; invalid lines are left out. */
  readJudgements(): RubricJudgement[] {
    return readStoredLines(RubricJudgement, this.rubricPath).values;
  }

  #recordText(record: RunRecord, head: TraceHead | undefined): string {
    if (record.spec.id !== this.id)
      throw new Error(`the record of ${record.spec.id} does not belong to ${this.id}`);
    const trace = head ?? record.trace;
    // Readers of version 1 would not find the compressed trace of a run that has ended; those of version 2 don't know
    // waiting runs.
    const v = record.status === 'waiting' ? 3 : record.status === 'finished' ? 2 : 1;
    const checked = RunRecord.parse({ ...record, v, ...(trace ? { trace } : {}) });
    return `${JSON.stringify(checked, null, 2)}\n`;
  }
}

/** The file in the outputs folder with the output of a step. Sorted by name, these files are in the order of steps. */
export function outputFile(step: number): string {
  return `step-${String(step).padStart(5, '0')}.txt`;
}
