import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import {
  type BranchId,
  type ObjectId,
  type RunRecord,
  type TextRef,
  TraceEvent,
  type TraceEventOf,
} from '../schema/index.ts';
import { Conversations } from './conversations.ts';
import { parseStoredText } from './documents.ts';
import { textsOf } from './references.ts';
import type { RunFolder } from './run-folder.ts';
import { checkSize, readSnapshot } from './snapshot-file.ts';
import { noHash, readLines, type TraceLine } from './trace-lines.ts';

export type StoreProblemCode =
  | 'broken_file'
  | 'future_version'
  | 'chain_broken'
  | 'wrong_order'
  | 'torn_line'
  | 'trace_cut'
  | 'object_bad'
  | 'unsafe_snapshot';

/** Something in a run's files that differs from what was written. */
export interface StoreProblem {
  code: StoreProblemCode;
  /** The file, with the line if there is one, or the object. */
  where: string;
  message: string;
}

export interface CheckOptions {
  /**
   * The bytes of objects already verified, since runs of an experiment share most of theirs. Newly verified ones are
   * added.
   */
  verified?: Map<ObjectId, number>;
  signal?: AbortSignal;
}

/**
 * Reads everything that a run refers to, and reports what was changed, cut off, lost or damaged since it was written.
 * It can't detect that the end of the trace and `run.json` were rewritten together: the hashes bind the parts to each
 * other, but they are not a signature.
 */
export async function checkRun(run: RunFolder, options: CheckOptions = {}): Promise<StoreProblem[]> {
  const problems: StoreProblem[] = [];
  const record = checkRecord(run, problems);
  const trace = new TraceCheck(run.tracePath, problems);
  if (await readTrace(run, trace, record, options, problems)) {
    trace.finish(record);
    checkGrades(run, trace.snapshots, problems);
    checkVerifications(run, trace.snapshots, problems);
  }
  await checkObjects(run, trace, options, problems);
  return problems;
}

/** False if the file can't be read to its end. */
async function readTrace(
  run: RunFolder,
  trace: TraceCheck,
  record: RunRecord | null,
  { signal }: CheckOptions,
  problems: StoreProblem[],
): Promise<boolean> {
  if (!run.hasTrace()) return true;
  try {
    for await (const line of readLines(run.tracePath, signal)) trace.add(line, record);
    return true;
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    problems.push({ code: codeOf(error), where: run.tracePath, message: error.message });
    return false;
  }
}

/** What a record knows of and a trace that was read to its end lacks, in words. */
export function missingEvents(
  record: Pick<RunRecord, 'trace' | 'steps'> | null,
  found: { events: number; steps: number },
): string[] {
  const known = { events: record?.trace?.events ?? 0, steps: record?.steps ?? 0 };
  return (['events', 'steps'] as const).flatMap((what) =>
    found[what] < known[what] ? [`it holds ${found[what]} ${what}; run.json knows of ${known[what]}`] : [],
  );
}

function checkRecord(run: RunFolder, problems: StoreProblem[]): RunRecord | null {
  try {
    return run.readRecord();
  } catch (error) {
    problems.push({ code: codeOf(error), where: run.recordPath, message: messageOf(error) });
    return null;
  }
}

/** Follows a trace line by line. */
class TraceCheck {
  readonly snapshots = new Set<ObjectId>();
  readonly contents = new Set<ObjectId>();
  readonly #path: string;
  readonly #problems: StoreProblem[];
  #lines = 0;
  #hash = noHash;
  /** For each branch, the number of its last finished step and of the current one. */
  readonly #branches = new Map<BranchId, { last: number; open: number | null }>([
    ['main', { last: 0, open: null }],
  ]);
  #steps = 0;
  #lastKind: string | null = null;
  readonly #conversations = new Conversations();
  /** Request bodies of programs that speak a provider's dialect. */
  readonly #bodies = new Conversations();

  constructor(path: string, problems: StoreProblem[]) {
    this.#path = path;
    this.#problems = problems;
  }

  add(line: TraceLine, record: RunRecord | null): void {
    if (line.torn) {
      this.#report('torn_line', line.number, `the last ${line.bytes.length} bytes are not a complete line`);
      return;
    }
    const event = this.#parse(line);
    if (event) {
      if (event.prev !== this.#hash) {
        this.#report('chain_broken', line.number, 'it does not hold the hash of the line before');
      }
      if (event.seq !== this.#lines) {
        this.#report('chain_broken', line.number, `it has number ${event.seq}, not ${this.#lines}`);
      }
      this.#follow(event, line.number);
    }
    this.#lines += 1;
    this.#hash = sha256(line.bytes);
    if (record?.trace?.events === this.#lines && record.trace.hash !== this.#hash) {
      this.#report('chain_broken', line.number, 'it is not the event that run.json knows of');
    }
  }

  finish(record: RunRecord | null): void {
    for (const fault of missingEvents(record, { events: this.#lines, steps: this.#steps }))
      this.#report('trace_cut', null, fault);
    // A failed run may be resumed: its trace has no end.
    const ended = record?.status === 'finished' && record.end !== null;
    if (ended && this.#lastKind !== null && this.#lastKind !== 'run_ended') {
      this.#report('trace_cut', null, 'run.json says that the run has ended; its last event is missing');
    }
  }

  #parse(line: TraceLine): TraceEvent | null {
    try {
      return parseStoredText(TraceEvent, line.bytes.toString('utf8'), 'the event');
    } catch (error) {
      this.#report(codeOf(error), line.number, messageOf(error));
      return null;
    }
  }

  /** Checks that events follow each other as a run produces them; collects what they refer to. */
  #follow(event: TraceEvent, line: number): void {
    if (this.#lastKind === null && event.kind !== 'session_started') {
      this.#report('wrong_order', line, 'the first event must be session_started');
    }
    this.#lastKind = event.kind;
    if (event.kind === 'session_started') {
      for (const branch of this.#branches.values()) branch.open = null;
      this.snapshots.add(event.snapshot);
    }
    if (event.kind === 'step_started' || event.kind === 'step_finished') this.#followStep(event, line);
    if (event.kind === 'branch_forked') this.#followFork(event, line);
    if (event.kind === 'branch_selected' && !this.#branches.has(event.branch)) {
      this.#report('wrong_order', line, `branch ${event.branch} is selected and was never forked`);
    }
    if (event.kind === 'run_ended' && event.snapshot !== null) this.snapshots.add(event.snapshot);
    if (event.kind === 'model_call') this.#followCall(event, line);
    for (const text of textsOf(event)) this.#note(text);
  }

  #followStep(event: TraceEventOf<'step_started'> | TraceEventOf<'step_finished'>, line: number): void {
    const name = event.branch ?? 'main';
    const branch = this.#branches.get(name);
    if (branch === undefined) {
      this.#report('wrong_order', line, `step ${event.step} is of branch ${name}, which was never forked`);
      return;
    }
    if (event.kind === 'step_started') {
      if (event.step !== branch.last + 1) {
        this.#report('wrong_order', line, `step ${event.step} follows step ${branch.last}`);
      }
      branch.open = event.step;
      return;
    }
    if (branch.open !== event.step) {
      this.#report('wrong_order', line, `step ${event.step} ends without having begun`);
    }
    branch.open = null;
    branch.last = event.step;
    this.#steps += 1;
    this.snapshots.add(event.snapshot);
    for (const { before } of event.undo) if (before !== null) this.contents.add(before);
  }

  #followFork({ branch, origin, snapshot }: TraceEventOf<'branch_forked'>, line: number): void {
    const last = this.#branches.get(origin.branch)?.last ?? -1;
    if (this.#branches.has(branch) || origin.step > last) {
      const from = `${origin.branch}, step ${origin.step}`;
      this.#report('wrong_order', line, `branch ${branch} is forked from ${from}, and that can't be`);
    }
    this.#branches.set(branch, { last: origin.step, open: null });
    this.snapshots.add(snapshot);
  }

  #followCall(event: TraceEventOf<'model_call'>, line: number): void {
    try {
      this.#conversations.of(event);
      if (event.wire !== undefined) this.#bodies.of({ call: event.call, messages: event.wire.request });
    } catch (error) {
      this.#report(codeOf(error), line, messageOf(error));
    }
  }

  #note(text: TextRef): void {
    if ('object' in text) this.contents.add(text.object);
  }

  #report(code: StoreProblemCode, line: number | null, message: string): void {
    this.#problems.push({ code, where: line === null ? this.#path : `${this.#path}:${line}`, message });
  }
}

function checkGrades(run: RunFolder, snapshots: ReadonlySet<ObjectId>, problems: StoreProblem[]): void {
  const where = run.gradesPath;
  try {
    const stored = run.readGrades();
    for (const message of stored.problems) problems.push({ code: 'broken_file', where, message });
    for (const grade of stored.grades) {
      if (snapshots.has(grade.snapshot)) continue;
      const message = `the grade of step ${grade.step} is of a snapshot that the trace does not know`;
      problems.push({ code: 'wrong_order', where, message });
    }
  } catch (error) {
    problems.push({ code: codeOf(error), where, message: messageOf(error) });
  }
}

function checkVerifications(
  run: RunFolder,
  snapshots: ReadonlySet<ObjectId>,
  problems: StoreProblem[],
): void {
  const where = run.verificationsPath;
  try {
    const stored = run.readVerifications();
    for (const message of stored.problems) problems.push({ code: 'broken_file', where, message });
    for (const { snapshot } of stored.verifications) {
      if (snapshot === null || snapshots.has(snapshot)) continue;
      problems.push({
        code: 'wrong_order',
        where,
        message: 'a verification is of a snapshot that the trace does not know',
      });
    }
  } catch (error) {
    problems.push({ code: codeOf(error), where, message: messageOf(error) });
  }
}

async function checkObjects(
  run: RunFolder,
  trace: TraceCheck,
  options: CheckOptions,
  problems: StoreProblem[],
): Promise<void> {
  const { signal, verified = new Map<ObjectId, number>() } = options;
  const bad = new Set<ObjectId>();
  const verify = async (id: ObjectId) => {
    if (verified.has(id) || bad.has(id)) return;
    signal?.throwIfAborted();
    try {
      verified.set(id, await run.objects.measure(id, signal));
    } catch (error) {
      if (!UserError.isInstance(error)) throw error;
      bad.add(id);
      problems.push({ code: 'object_bad', where: `object ${id}`, message: error.message });
    }
  };
  for (const id of trace.snapshots) {
    signal?.throwIfAborted();
    try {
      const files = readSnapshot(run.objects, id).entries.filter((entry) => 'object' in entry);
      for (const { object } of files) await verify(object);
      for (const file of files) checkSize(id, file, verified.get(file.object));
    } catch (error) {
      problems.push({ code: codeOf(error), where: `snapshot ${id}`, message: messageOf(error) });
    }
  }
  for (const id of trace.contents) await verify(id);
}

function codeOf(error: unknown): StoreProblemCode {
  if (!UserError.isInstance(error)) {
    if (hasCode(error, 'ENOENT')) return 'broken_file';
    throw error;
  }
  if (error.code === 'future_version' || error.code === 'unsafe_snapshot') return error.code;
  return error.code.startsWith('object_') ? 'object_bad' : 'broken_file';
}
