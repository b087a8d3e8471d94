import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import { ModelUnavailable } from '../models/index.ts';
import { SandboxError } from '../sandbox/index.ts';
import type {
  Action,
  Budget,
  ModelRequest,
  ObjectId,
  Spent,
  SubmissionState,
  TaskBrief,
  UndoEntry,
} from '../schema/index.ts';
import { nothingSpent } from '../store/index.ts';
import { type ActionDefinition, type Checked, checkAction, describeAction, type Outcome } from './action.ts';
import { offeredActions } from './action-definitions.ts';
import { Activity } from './activity.ts';
import { type AskedAction, readAction } from './asked-action.ts';
import { BudgetClock, wholeBudget } from './budget-clock.ts';
import { CallRecorder } from './call-recorder.ts';
import { CommandRunner, outputsName } from './command-runner.ts';
import { type Ending, endingOf, timeUp } from './ending.ts';
import type {
  ActionDescription,
  Environment,
  GiveUpReason,
  ModelReply,
  StepResult,
  SubmissionSeen,
} from './environment.ts';
import { type FixedFile, putBack } from './fixed-files.ts';
import { ExperimentSpent, ModelAccess } from './model-access.ts';
import { type RecordedStep, Replay, repeatStep, updateUndoStack } from './replay.ts';
import { normalRequest } from './request-hash.ts';
import type { RunEnvironmentOptions } from './run-environment-options.ts';
import { RunStopped } from './run-stopped.ts';
import { createWorkbench } from './run-workbench.ts';
import { StepRecorder } from './step-recorder.ts';
import { StoredBytes } from './stored-bytes.ts';
import { ToolAccess, type ToolReply } from './tool-access.ts';
import { Turns } from './turns.ts';
import type { Workbench } from './workbench.ts';
import { WorkspaceFiles, WorkspaceFull } from './workspace-files.ts';
import { PathFailed, PathRefused } from './workspace-path.ts';

/** Timers hold no more, about 24 days. */
const longestTimerMs = 2 ** 31 - 1;
/** An agent that does nothing for so long after the run's end will not do anything any more. */
const patienceMs = 5_000;

/** The workspace of one run: validates, runs, observes, traces, snapshots, counts. */
export class RunEnvironment implements Environment, AsyncDisposable {
  readonly task: TaskBrief;
  readonly actions: readonly ActionDescription[];
  readonly budget;
  readonly #options: RunEnvironmentOptions;
  readonly #clock: BudgetClock;
  readonly #recorder: StepRecorder;
  readonly #commands: CommandRunner;
  readonly #workbench: Workbench;
  readonly #undoStack: UndoEntry[] = [];
  readonly #replay: Replay;
  readonly #calls: CallRecorder;
  readonly #models: ModelAccess;
  readonly #tools: ToolAccess;
  readonly #turns = new Turns();
  readonly #activity = new Activity();
  readonly #definitions: ReadonlyMap<string, ActionDefinition>;
  #steps = 0;
  #ending: Ending | null = null;
  /** As it was after the last step. */
  #submission: SubmissionSeen = { present: false, written_at_step: null, stale: false };

  constructor(options: RunEnvironmentOptions) {
    const { task, limits, recorded } = options;
    this.#options = options;
    this.task = task;
    this.#definitions = offeredActions({
      model: options.models !== undefined,
      person: options.askPerson !== undefined,
    });
    this.actions = [...this.#definitions.values()].map(describeAction);
    this.budget = wholeBudget(recorded.limits ?? limits);
    this.#clock = new BudgetClock(limits, options.secondsUsedBefore);
    this.#replay = new Replay(recorded);
    const { gateway, spentBefore = nothingSpent } = options.models ?? {};
    this.#calls = new CallRecorder(options.trace, { calls: recorded.callCount, spent: spentBefore });
    this.#models = new ModelAccess({
      ...{ gateway, recorder: this.#calls, clock: this.#clock, limits },
      signal: options.signal,
      replay: this.#replay,
      onEnd: (ending) => {
        this.#ending ??= ending;
      },
      onProgress: options.onProgress,
    });
    this.#tools = new ToolAccess(this.#models, (error) => this.#turns.fail(error));
    for (const step of recorded.steps) updateUndoStack(this.#undoStack, step);
    const { trace, snapshotter, folders } = options;
    this.#recorder = new StepRecorder({
      ...{ workspace: folders.workspace, submission: task.submission, trace, snapshotter },
      earlier: recorded.steps,
      maxBytes: limits.workspace_mb * 2 ** 20,
      stored: new StoredBytes(
        options.objects,
        trace,
        folders.outputs,
        recorded.steps.at(-1)?.storedBytes ?? null,
      ),
      signal: options.signal,
    });
    this.#commands = new CommandRunner({
      sandbox: options.sandbox,
      outputsFolder: options.folders.outputs,
      onOutput: (step, text) => this.#onOutput(step, text),
      interpreterLost: recorded.steps.some(({ action }) => action === 'Python REPL'),
      signal: options.signal,
    });
    this.#workbench = createWorkbench({
      task,
      files: new WorkspaceFiles({
        workspace: options.folders.workspace,
        readOnly: { data: options.folders.data, [outputsName]: options.folders.outputs },
        isReadOnly: options.isReadOnly,
        roomBytes: () => limits.workspace_mb * 2 ** 20 - options.snapshotter.bytes,
      }),
      objects: options.objects,
      commands: this.#commands,
      sandbox: options.sandbox,
      undoStack: this.#undoStack,
      step: () => this.#steps,
      budget: () => this.#budgetNow(),
      timeLimitMs: () => {
        const seconds = Math.max(0.001, Math.min(limits.script_seconds, this.#clock.secondsLeft));
        return Math.min(1000 * seconds, longestTimerMs);
      },
      ask: (request) => this.#models.answer(normalRequest(request), this.#steps),
      askPerson: (request) => this.#askPerson(request),
    });
  }

  /** How the run ended; null while it goes on. */
  get ending(): Ending | null {
    return this.#ending;
  }

  get stepsTaken(): number {
    return this.#steps;
  }

  get secondsUsed(): number {
    return this.#clock.secondsUsed;
  }

  /** What this session's and earlier calls of language models came to. */
  get spent(): Spent {
    return this.#calls.spent;
  }

  /** What the harness could not do, thrown by every step since; null while all is well. */
  get failure(): { error: unknown } | null {
    return this.#turns.failure;
  }

  step(asked: Action): Promise<StepResult> {
    const action = readAction(asked);
    return this.#turns.take(() => this.#activity.during(() => this.#take(action)));
  }

  async #take(action: AskedAction): Promise<StepResult> {
    if (this.#ending !== null) return this.#closed(this.#ending);
    const recorded = this.#replay.step(action);
    if (recorded !== null) return this.#repeat(action, recorded);
    if (this.#options.signal.aborted) throw new RunStopped('The run was stopped.');
    // Time also passes while the agent thinks.
    this.#ending = endingOf(null, this.#budgetNow(), this.#options.limits);
    return this.#ending === null ? this.#act(action) : this.#closed(this.#ending);
  }

  async ask(asked: ModelRequest): Promise<ModelReply> {
    const request = normalRequest(asked);
    return this.#turns.take(async () => {
      if (this.#ending !== null) return { kind: 'closed', message: this.#ending.message };
      return await this.#activity.during(() => this.#models.answer(request, null));
    });
  }

  /** Asks the run's model for a tool that the step under way runs. Never rejects. */
  askForTool(request: ModelRequest): Promise<ToolReply> {
    return this.#tools.answer(request);
  }

  giveUp(reason: GiveUpReason, message: string): void {
    this.#ending ??= { reason, message, finalAnswer: null };
  }

  note(entries: Record<string, string>): void {
    if (this.#replay.note()) return;
    const { trace, onProgress } = this.#options;
    const texts = Object.entries(entries).map(([name, text]) => [name, trace.textRef(text)]);
    this.#guarded(() => trace.append({ kind: 'note', entries: Object.fromEntries(texts) }));
    onProgress?.({ kind: 'note', entries });
  }

  /**
   * The agent does nothing more. What it asked for and did not wait for is done first.
   * @param ending how the run ended where nothing has ended it before
   * @throws what the harness could not do
   */
  async end(ending: Ending): Promise<Ending> {
    return await this.#turns.take(() => {
      this.#ending ??= ending;
      return this.#ending;
    });
  }

  /**
   * Resolves when the run's time is up, or it was stopped, and the agent has done nothing for a while: it hangs.
   * @param over aborted when nobody waits for this any more
   */
  async abandoned(over: AbortSignal): Promise<void> {
    using deadline = this.#clock.deadline();
    const ended = AbortSignal.any([deadline.signal, this.#options.signal, over]);
    if (!ended.aborted) await once(ended, 'abort');
    while (!over.aborted && !this.#activity.isQuietFor(patienceMs)) await delay(patienceMs / 20);
    if (deadline.signal.aborted) this.#ending ??= timeUp(this.#options.limits);
  }

  /** The workspace as it is graded: nothing runs in it any more, and every file is read anew. */
  async finalState(): Promise<{ snapshot: ObjectId; submission: SubmissionState }> {
    await this.#commands.close();
    return this.#recorder.finalState(this.#steps);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#commands.close();
  }

  async #act(action: AskedAction): Promise<StepResult> {
    const { trace, onProgress } = this.#options;
    const began = performance.now();
    this.#steps += 1;
    const step = this.#steps;
    const checked = checkAction(action, this.#definitions);
    trace.append({
      kind: 'step_started',
      step,
      action: action.name,
      args: trace.textRef(action.text),
    });
    onProgress?.({ kind: 'step_started', step, action: action.name });

    const workBegan = performance.now();
    const outcome = await this.#tools.during(step, () => this.#perform(checked));
    const workEnded = performance.now();
    if (this.failure !== null) throw this.failure.error;

    updateUndoStack(this.#undoStack, outcome);
    const usage = this.#commands.takeUsage();
    const done = { step, action, outcome, usage, began, workBegan, workEnded };
    const recorded = await this.#recorder.finish(done, () => this.#budgetNow());
    const { limits } = this.#options;
    this.#ending ??= endingOf(
      outcome.finalAnswer ?? null,
      recorded.budget,
      limits,
      this.#recorder.storedBytes,
    );
    this.#submission = recorded.submission;
    const result = { ...recorded, ended: this.#ending !== null };
    onProgress?.({ kind: 'step_finished', step, action: action.name, result });
    return result;
  }

  async #perform(checked: Checked): Promise<Outcome> {
    if (!checked.ok) return { status: 'invalid', observation: checked.observation };
    try {
      const outcome = await checked.definition.run(this.#workbench, checked.args);
      if (this.#options.signal.aborted) throw new RunStopped('The run was stopped.');
      return outcome;
    } catch (error) {
      if (error instanceof PathRefused) return { status: 'refused', observation: error.message };
      if (error instanceof WorkspaceFull) return { status: 'workspace_full', observation: error.message };
      if (error instanceof PathFailed) return { status: 'failed', observation: error.message };
      if (SandboxError.isInstance(error)) {
        const displaced = await this.#putBack();
        if (displaced.length > 0) return notRun(displaced);
      }
      if (isInfrastructure(error) || error instanceof RunStopped || this.#options.signal.aborted) throw error;
      return { status: 'error', observation: `The action failed inside the harness: ${messageOf(error)}` };
    }
  }

  /** Whether the agent stood in the sandbox's way by moving what read-only files lie in. */
  async #putBack(): Promise<FixedFile[]> {
    const { fixedFiles = [], folders } = this.#options;
    await this.#commands.close();
    return putBack(folders.workspace, fixedFiles);
  }

  #repeat(action: AskedAction, recorded: RecordedStep): StepResult {
    const { result, ending } = repeatStep(action, recorded, this.#options.limits);
    this.#steps = result.step;
    this.#ending = ending;
    this.#submission = result.submission;
    return result;
  }

  #closed(ending: Ending): StepResult {
    return {
      step: this.#steps,
      status: 'closed',
      observation: `The environment has shut down: ${ending.message}`,
      exitCode: null,
      durationMs: 0,
      budget: this.#budgetNow(),
      submission: this.#submission,
      ended: true,
    };
  }

  #budgetNow(): Budget {
    return this.#clock.budget(this.#steps, this.#calls.spent);
  }

  async #askPerson(request: string): Promise<string> {
    const { askPerson, signal } = this.#options;
    if (askPerson === undefined) throw new Error('nobody watches this run');
    const start = performance.now();
    try {
      return await askPerson(request, signal);
    } finally {
      this.#clock.exclude(performance.now() - start);
    }
  }

  #onOutput(step: number, text: string): void {
    this.#guarded(() => this.#options.trace.append({ kind: 'output', step, text }));
    this.#options.onProgress?.({ kind: 'output', step, text });
  }

  /** For what is called where nobody can catch; the step under way, or the next one, throws it. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#turns.fail(error);
    }
  }
}

/** No sandbox, no model: not the agent's doing, and nothing it could go on from. */
function isInfrastructure(error: unknown): boolean {
  return (
    SandboxError.isInstance(error) || ModelUnavailable.isInstance(error) || error instanceof ExperimentSpent
  );
}

function notRun(displaced: readonly FixedFile[]): Outcome {
  const names = displaced.map(({ path }) => path).join(', ');
  const observation =
    `Nothing was run: folders of read-only files had been moved or replaced. They were put back: ${names}. ` +
    'Try again.';
  return { status: 'refused', observation };
}
