import pLimit from 'p-limit';
import type { CallRecord } from '../models/index.ts';
import type { BranchId, BranchOrigin, Budget, ModelRequest, Spent } from '../schema/index.ts';
import { nothingSpent } from '../store/index.ts';
import type { ActionDefinition } from './action.ts';
import { Activity } from './activity.ts';
import { BranchHistories } from './branch-history.ts';
import { BudgetClock } from './budget-clock.ts';
import { CallRecorder } from './call-recorder.ts';
import type { Continuation } from './continuation.ts';
import { type Ending, endingOf, storageUp } from './ending.ts';
import type { ModelReply, StepResult } from './environment.ts';
import type { GateDecision } from './gate.ts';
import { GateWaits } from './gate-waits.ts';
import type { ProgramTurn } from './live-branch.ts';
import { ModelAccess } from './model-access.ts';
import { OpenBranches } from './open-branches.ts';
import type { RecordedCall } from './recorded-run.ts';
import type { Replay } from './replay.ts';
import type { RequestedAction } from './requested-action.ts';
import type { RunEnding } from './run-ending.ts';
import type { RunEnvironmentOptions } from './run-environment-options.ts';
import type { RunParts } from './run-parts.ts';
import { RunStopped } from './run-stopped.ts';
import type { FinalState } from './step-recorder.ts';
import { StoredBytes } from './stored-bytes.ts';
import type { ToolReply } from './tool-access.ts';
import type { Waited } from './waiting-time.ts';

/** Serves the requests that the trace has no result for, within the run's limits, and records the results. */
export class LiveRun implements Continuation, AsyncDisposable {
  readonly clock: BudgetClock;
  readonly activity = new Activity();
  readonly #options: RunEnvironmentOptions;
  readonly #state: RunEnding;
  readonly #stored: StoredBytes;
  readonly #calls: CallRecorder;
  readonly #models: ModelAccess;
  readonly #histories: BranchHistories;
  readonly #branches: OpenBranches;
  readonly #atOnce;
  #steps: number;
  #programCalls: number;

  constructor(
    options: RunEnvironmentOptions,
    definitions: ReadonlyMap<string, ActionDefinition>,
    replay: Replay,
    state: RunEnding,
  ) {
    const { limits, recorded, trace, objects, folders, signal, onProgress, branches } = options;
    this.#options = options;
    this.#state = state;
    this.#steps = recorded.steps.length;
    this.#programCalls = recorded.callCount;
    this.#atOnce = pLimit(options.branchesAtOnce ?? Number.POSITIVE_INFINITY);
    this.clock = new BudgetClock(limits, options.secondsUsedBefore, options.clock);
    const { gateway, spentBefore = nothingSpent } = options.models ?? {};
    const before = { calls: recorded.callCount, answered: recorded.calls.length, spent: spentBefore };
    this.#calls = new CallRecorder(trace, before);
    this.#models = new ModelAccess({
      ...{ gateway, recorder: this.#calls, clock: this.clock, limits, signal, replay, onProgress },
      onEnd: (ending) => state.end(ending),
    });
    const histories = new BranchHistories(recorded);
    this.#histories = histories;
    const outputsOf = (id: BranchId) =>
      id === 'main' ? folders.outputs : (branches?.outputsFolder(id) ?? folders.outputs);
    const outputs = histories.ids.map((id) => ({
      folder: outputsOf(id),
      afterStep: histories.of(id).origin?.step ?? 0,
    }));
    const storedBefore = recorded.steps.at(-1)?.storedBytes ?? null;
    this.#stored = new StoredBytes(objects, trace, outputs, storedBefore);
    const run: RunParts = {
      ...{ task: options.task, limits, definitions, dataFolder: folders.data, trace, objects, state },
      ...{ isReadOnly: options.isReadOnly, fixedFiles: options.fixedFiles ?? [], gate: options.gate },
      stored: this.#stored,
      ...{ clock: this.clock, models: this.#models, decisions: recorded.decisions },
      gateWaits: new GateWaits({
        longest: options.longestGateWait,
        underWay: () => this.activity.underWay,
        onOver: (error) => state.fail(error),
      }),
      ...{ askPerson: options.askPerson, signal, onProgress },
      countStep: () => {
        this.#steps += 1;
      },
      budget: () => this.budget(),
    };
    const { sandbox, snapshotter } = options;
    const main = { folders, sandbox, snapshotter, ...closedByCaller };
    this.#branches = new OpenBranches({ run, histories, main, places: branches ?? null });
  }

  /** The steps of all branches. */
  get stepsTaken(): number {
    return this.#steps;
  }

  /** The use of language models in this and earlier sessions. */
  get spent(): Spent {
    return this.#calls.spent;
  }

  budget(): Budget {
    return this.clock.budget(this.#steps, this.#calls.spent);
  }

  step(
    { id }: { id: BranchId },
    action: RequestedAction,
    recorded: (ended: boolean) => void,
  ): Promise<StepResult | null> {
    return this.#atOnce(() =>
      this.#do(async (waited) => {
        // Time also passes while the agent thinks.
        const ending = endingOf(null, this.budget(), this.#options.limits);
        if (ending !== null) this.#state.end(ending);
        if (this.#state.ending !== null) return null;
        return await this.#branches.use(id, (branch) => branch.act(action, { recorded, waited }));
      }),
    );
  }

  async ask(request: ModelRequest, asked: number, recorded: () => void): Promise<ModelReply> {
    const full = this.endWhereFull();
    if (full !== null) return { kind: 'closed', message: full.message };
    return await this.#do((waited) => this.#models.answer(request, asked, recorded, waited));
  }

  /** Runs an autonomous program on `main`, and takes the steps of `turn`. */
  program<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#do(() => this.#branches.use('main', (main) => main.during(work)));
  }

  turn(turn: ProgramTurn): Promise<StepResult> {
    return this.#branches.use('main', (main) => main.turn(turn));
  }

  /** Such a program asks for permission. The clock stops until there is an answer; null: there is nobody to ask. */
  async permission(action: RequestedAction, over: AbortSignal): Promise<GateDecision | null> {
    const resume = this.clock.pause();
    try {
      return await this.#branches.use('main', (main) => main.permission(action, over));
    } finally {
      resume();
    }
  }

  /** Records a model call of such a program. */
  called(call: CallRecord): void {
    this.#programCalls += 1;
    const caller = { step: null, asked: this.#programCalls };
    const event = this.#calls.record(call, caller, this.clock.secondsUsed);
    this.#options.onProgress?.({ kind: 'model_called', call: event });
  }

  repeated(request: ModelRequest, call: RecordedCall): void {
    this.#calls.remember(request, call.event.call);
  }

  /** The branch begins with a stored snapshot: its workspace is made when its first step is taken. */
  async fork(branch: BranchId, origin: BranchOrigin, recorded: () => void): Promise<boolean> {
    const { branches, trace, signal } = this.#options;
    if (branches === undefined) throw new Error('this run can have no other branch than main');
    if (signal.aborted) throw new RunStopped('The run was stopped.');
    if (this.endWhereFull() !== null) return false;
    const snapshot = this.#histories.of(origin.branch).snapshotAt(origin.step);
    trace.append({ kind: 'branch_forked', branch, origin, snapshot });
    this.#histories.fork(branch, origin);
    recorded();
    return true;
  }

  select(branch: BranchId): void {
    this.#options.trace.append({ kind: 'branch_selected', branch });
  }

  /**
   * Ends a run that has reached its storage limit. Also between steps, because notes, calls and branches have no limit
   * of their own.
   */
  endWhereFull(): Ending | null {
    const ending = storageUp(this.#options.limits, this.#stored.count);
    if (ending !== null) this.#state.end(ending);
    return ending;
  }

  note(entries: Record<string, string>): void {
    if (this.endWhereFull() !== null) return;
    const { trace, onProgress } = this.#options;
    const texts = Object.entries(entries).map(([name, text]) => [name, trace.textRef(text)]);
    trace.append({ kind: 'note', entries: Object.fromEntries(texts) });
    onProgress?.({ kind: 'note', entries });
  }

  askForTool(request: ModelRequest): Promise<ToolReply> {
    return this.#branches.askForTool(request);
  }

  /** The workspace of a branch for grading. */
  finalState(branch: BranchId): Promise<FinalState> {
    return this.#branches.use(branch, (live) => live.finalState());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#branches[Symbol.asyncDispose]();
  }

  #do<Result>(work: (waited: Waited) => Promise<Result>): Promise<Result> {
    return this.activity.during(async () => {
      if (this.#options.signal.aborted) throw new RunStopped('The run was stopped.');
      return await this.clock.during(work);
    });
  }
}

/** The caller closes it, and knows when its files are no longer needed. */
const closedByCaller = { discard: async () => {}, [Symbol.asyncDispose]: async () => {} };
