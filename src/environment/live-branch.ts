import { performance } from 'node:perf_hooks';
import type { EventOf, ModelRequest, UndoEntry } from '../schema/index.ts';
import { type ActionOutcome, type Checked, checkAction } from './action.ts';
import { ActionPerformer } from './action-performer.ts';
import type { BranchHistory } from './branch-history.ts';
import type { BranchPlace } from './branch-place.ts';
import { CommandRunner, outputsName } from './command-runner.ts';
import { createActionContext } from './create-action-context.ts';
import { endingOf } from './ending.ts';
import type { StepResult } from './environment.ts';
import type { GateDecision } from './gate.ts';
import { askPermission, passGate, type StepToTake } from './pass-gate.ts';
import { normalRequest } from './request-hash.ts';
import type { RequestedAction } from './requested-action.ts';
import type { RunParts } from './run-parts.ts';
import { type DoneStep, type FinalState, StepRecorder } from './step-recorder.ts';
import { ToolAccess, type ToolReply } from './tool-access.ts';
import { updateUndoStack } from './undo-stack.ts';
import type { StepUsage } from './usage-meter.ts';
import type { Waited } from './waiting-time.ts';
import { WorkspaceFiles } from './workspace-files.ts';

/** The limit of timers, about 24 days. */
const longestTimerMs = 2 ** 31 - 1;

/** Callbacks of a step. */
export interface StepHooks {
  /** Called when the step is in the trace, with whether it ended the run. */
  recorded: (ended: boolean) => void;
  /** Called for a wait, which does not count as the run's time. */
  waited: Waited;
}

/** What an autonomous program did with one answer of its model. */
export interface ProgramTurn {
  action: RequestedAction;
  outcome: ActionOutcome;
  /** When it got the answer, by `performance.now()`. */
  began: number;
  usage: StepUsage;
}

/** The workspace of one branch: validates, performs, observes, traces, snapshots. One step at a time. */
export class LiveBranch implements AsyncDisposable {
  readonly history: BranchHistory;
  readonly place: BranchPlace;
  readonly #run: RunParts;
  readonly #commands: CommandRunner;
  readonly #performer: ActionPerformer;
  readonly #recorder: StepRecorder;
  readonly #tools: ToolAccess;
  readonly #undoStack: UndoEntry[] = [];
  #step: number;
  #waited: StepHooks['waited'] = () => {};
  /** The workspace may differ from its last snapshot, besides what commands did: the harness or a person changed it. */
  #mayDiffer = false;

  constructor(run: RunParts, history: BranchHistory, place: BranchPlace) {
    const { task, limits, trace, objects, signal } = run;
    const { sandbox, snapshotter, folders } = place;
    this.#run = run;
    this.history = history;
    this.place = place;
    this.#step = history.lastStep;
    const earlier = history.steps();
    for (const step of earlier) updateUndoStack(this.#undoStack, step);
    this.#recorder = new StepRecorder({
      ...{
        branch: history.id,
        workspace: folders.workspace,
        submission: task.submission,
        trace,
        snapshotter,
      },
      ...{ earlier, maxBytes: limits.workspace_mb * 2 ** 20, stored: run.stored, signal },
    });
    this.#commands = new CommandRunner({
      sandbox,
      outputsFolder: folders.outputs,
      onOutput: (step, text) => this.#onOutput(step, text),
      onStored: (bytes) => run.stored.addOutput(bytes),
      interpreterLost: earlier.some(({ action }) => action === 'Python REPL'),
      signal,
    });
    this.#tools = new ToolAccess(
      (request) => run.models.askForTool(request, { branch: history.id, step: this.#step }),
      (error) => run.state.fail(error),
    );
    const context = createActionContext({
      ...{ task, objects, commands: this.#commands, sandbox, undoStack: this.#undoStack },
      files: new WorkspaceFiles({
        workspace: folders.workspace,
        readOnly: { data: run.dataFolder, [outputsName]: folders.outputs },
        isReadOnly: run.isReadOnly,
        bytesLeft: () => limits.workspace_mb * 2 ** 20 - snapshotter.bytes,
        onChange: () => {
          this.#mayDiffer = true;
        },
      }),
      step: () => this.#step,
      budget: () => run.budget(),
      timeLimitMs: () => {
        const seconds = Math.max(0.001, Math.min(limits.script_seconds, run.clock.secondsLeft));
        return Math.min(1000 * seconds, longestTimerMs);
      },
      ask: (request) =>
        run.models.answerInStep(
          normalRequest(request),
          { branch: history.id, step: this.#step },
          this.#waited,
        ),
      askPerson: (request) => this.#askPerson(request),
    });
    this.#performer = new ActionPerformer({
      ...{ context, workspace: folders.workspace, fixedFiles: run.fixedFiles, signal },
      closeCommands: () => this.#commands.close(),
    });
  }

  /** Calls the run's model for a tool in the current step. Never rejects. */
  askForTool(request: ModelRequest): Promise<ToolReply> {
    return this.#tools.answer(request);
  }

  /** Passes an action of the agent through the run's gate, and takes the step. Null if the run has ended meanwhile. */
  async act(action: RequestedAction, hooks: StepHooks): Promise<StepResult | null> {
    const { gate, definitions, state } = this.#run;
    this.#waited = hooks.waited;
    const perform = (checked: Checked) => this.#performer.perform(checked);
    const asked: StepToTake = { action, actor: null, perform };
    if (gate === undefined || !checkAction(action, definitions).ok) return await this.#take(asked, hooks);
    const decided = await passGate(asked, gate, this.#run, {
      branch: this.history.id,
      nextStep: () => this.#step + 1,
      waited: hooks.waited,
      take: (step) => this.#take(step, { ...hooks, recorded: () => {} }),
    });
    return state.ending === null ? await this.#take(decided, hooks) : null;
  }

  /** Runs an autonomous program, whose tools may call the run's model. */
  during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#step = this.history.lastStep + 1;
    return this.#tools.during(work);
  }

  /** Records a step of such a program. */
  async turn({ action, outcome, began, usage }: ProgramTurn): Promise<StepResult> {
    const workEnded = performance.now();
    const step = this.#begin({ action, actor: null });
    const done = { step, action, outcome, usage, began, workBegan: began, workEnded, mayDiffer: true };
    const result = await this.#finish(done, () => {});
    this.#step = step + 1;
    return result;
  }

  /** The gate's decision on what such a program wants to do; null if there is no gate. */
  async permission(action: RequestedAction, over: AbortSignal): Promise<GateDecision | null> {
    const { gate } = this.#run;
    if (gate === undefined) return null;
    const here = { branch: this.history.id, nextStep: () => this.history.lastStep + 1 };
    return await askPermission(action, gate, this.#run, here, over);
  }

  /** The workspace for grading: nothing runs in it any more, and every file is read anew. */
  async finalState(): Promise<FinalState> {
    await this.#commands.close();
    return this.#recorder.finalState(this.history.lastStep);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#commands.close();
  }

  async #take({ action, actor, perform }: StepToTake, hooks: StepHooks): Promise<StepResult> {
    const { definitions, state } = this.#run;
    const began = performance.now();
    const step = this.#begin({ action, actor });
    const checked = checkAction(action, definitions);
    const workBegan = performance.now();
    const outcome = await this.#tools.during(() => perform(checked));
    const workEnded = performance.now();
    state.throwIfFailed();
    const usage = this.#commands.takeUsage();
    const mayDiffer = this.#commands.takeHasRun() || this.#mayDiffer;
    this.#mayDiffer = this.#run.gate !== undefined;
    const done = { step, action, outcome, usage, began, workBegan, workEnded, mayDiffer };
    return await this.#finish(done, hooks.recorded);
  }

  #begin({ action, actor }: Pick<StepToTake, 'action' | 'actor'>): number {
    const { trace, onProgress } = this.#run;
    this.#run.countStep();
    this.#step = this.history.lastStep + 1;
    const started: EventOf<'step_started'> = {
      kind: 'step_started',
      ...this.#ofBranch,
      step: this.#step,
      ...(actor === null ? {} : { actor }),
      action: action.name,
      args: trace.textRef(action.text),
    };
    trace.append(started);
    onProgress?.({ kind: 'step_started', ...this.#ofBranch, step: this.#step, action: action.name });
    return this.#step;
  }

  async #finish(done: DoneStep, recorded: StepHooks['recorded']): Promise<StepResult> {
    const { onProgress, state, limits } = this.#run;
    const {
      step,
      action: { name: action },
      outcome,
    } = done;
    updateUndoStack(this.#undoStack, outcome);
    const { result, snapshot, submission } = await this.#recorder.finish(done, () => this.#run.budget());
    const { undo = [], undone = [], finalAnswer = null } = outcome;
    this.history.add({ step, action, snapshot, submission, undo, undone });
    const ending = endingOf(finalAnswer, result.budget, limits, this.#recorder.storedBytes);
    if (ending !== null) state.end(ending);
    recorded(ending !== null);
    const shown = { ...result, ended: state.ending !== null };
    onProgress?.({ kind: 'step_finished', ...this.#ofBranch, step, action, result: shown });
    return shown;
  }

  async #askPerson(request: string): Promise<string> {
    const { askPerson, signal } = this.#run;
    if (askPerson === undefined) throw new Error('nobody watches this run');
    const answer = askPerson(request, signal);
    this.#mayDiffer = true;
    this.#waited(answer);
    return await answer;
  }

  #onOutput(step: number, text: string): void {
    const { trace, onProgress, state } = this.#run;
    try {
      trace.append({ kind: 'output', ...this.#ofBranch, step, text });
    } catch (error) {
      // No caller could catch it here, so the current step throws it.
      state.fail(error);
    }
    onProgress?.({ kind: 'output', ...this.#ofBranch, step, text });
  }

  get #ofBranch(): { branch?: BranchHistory['id'] } {
    return this.history.id === 'main' ? {} : { branch: this.history.id };
  }
}
