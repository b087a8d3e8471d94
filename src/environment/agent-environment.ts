import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Action,
  BranchId,
  BranchOrigin,
  Budget,
  Limits,
  ModelRequest,
  TaskBrief,
} from '../schema/index.ts';
import { BranchId as BranchIdSchema } from '../schema/index.ts';
import { AgentBranch } from './agent-branch.ts';
import { wholeBudget } from './budget-clock.ts';
import { CompletionOrder } from './completion-order.ts';
import type { Continuation } from './continuation.ts';
import type {
  ActionDescription,
  Branch,
  Environment,
  GiveUpReason,
  ModelReply,
  StepResult,
} from './environment.ts';
import { NormalRequests } from './normal-requests.ts';
import type { RecordedRun } from './recorded-run.ts';
import { type Replay, repeatStep } from './replay.ts';
import { type RequestedAction, readAction } from './requested-action.ts';
import type { RunEnding } from './run-ending.ts';

/** A request of the agent: its number, and whether it came after the end. */
interface AgentRequest {
  number: number;
  isLate: boolean;
}

/** Per run: each branch stays in memory, used or not, and every reader of the trace handles them all. */
const maxForks = 10_000;

/** An agent with more requests than this after the end of its run ignores the answers. */
const mostAfterEnd = 100;
/** Each answer to such an agent is delayed by this, so that it does not use up the processor. */
const lateAnswerMs = 1_000;

/** An invalid fork: the agent's mistake, which ends nothing. */
class RefusedFork extends RangeError {}

export interface AgentEnvironmentParts {
  task: TaskBrief;
  actions: readonly ActionDescription[];
  limits: Limits;
  /** What earlier sessions did; it is replayed to the agent before anything new is done. */
  recorded: RecordedRun;
  replay: Replay;
  state: RunEnding;
  /** Serves the requests that the trace has no result for. */
  continuation: Continuation;
}

/**
 * The environment that an agent gets. It first replays the recorded results of the run, then serves new requests. The
 * agent gets results in the order of the trace, see `CompletionOrder`.
 */
export class AgentEnvironment implements Environment {
  readonly id = 'main';
  readonly origin = null;
  readonly task: TaskBrief;
  readonly actions: readonly ActionDescription[];
  readonly budget: Budget;
  protected readonly main: AgentBranch;
  readonly #parts: AgentEnvironmentParts;
  readonly #order: CompletionOrder;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #requests = new NormalRequests();
  #requestCount = 0;
  #asks = 0;
  #forks = 0;
  #afterEnd = 0;
  readonly #ignoresEnd = Promise.withResolvers<void>();
  /** A step that is in the trace has ended the run. */
  #endedByStep = false;
  #closing = false;
  #selected: BranchId = 'main';

  constructor(parts: AgentEnvironmentParts) {
    this.#parts = parts;
    this.task = parts.task;
    this.actions = parts.actions;
    this.budget = wholeBudget(parts.recorded.limits ?? parts.limits);
    this.#order = new CompletionOrder(parts.replay, parts.state);
    this.main = this.#newBranch('main', null);
  }

  /** The branch that is graded. */
  protected get selected(): BranchId {
    return this.#selected;
  }

  /** An infrastructure failure, or a difference between the agent and its trace; every later step throws it. */
  get failure(): { error: unknown } | null {
    return this.#parts.state.failure;
  }

  /** Resolves if the agent keeps asking for more after the end of its run: it will hardly return by itself. */
  get ignoresEnd(): Promise<void> {
    return this.#ignoresEnd.promise;
  }

  step(action: Action): Promise<StepResult> {
    return this.main.step(action);
  }

  fork(at?: number): Promise<Branch> {
    return this.main.fork(at);
  }

  async ask(asked: ModelRequest): Promise<ModelReply> {
    const request = this.#requests.of(asked);
    const agentRequest = this.#newRequest();
    this.#asks += 1;
    const number = this.#asks;
    const answer = () => this.#answer(request, number, agentRequest);
    // Once there are several branches, model calls run concurrently with everything else.
    return await this.#guarded(() => (this.#order.concurrent ? answer() : this.main.queue.take(answer)));
  }

  select(branch: Branch): void {
    if (!(branch instanceof AgentBranch) && branch !== this)
      throw new TypeError('select takes a branch of this run');
    if (this.#closing || (branch instanceof AgentBranch && !branch.isOpen)) return;
    const { id } = branch instanceof AgentBranch ? branch : this.main;
    this.#selected = id;
    this.#attempt(() => {
      if (!this.#parts.replay.select(id)) this.#parts.continuation.select(id);
    });
  }

  giveUp(reason: GiveUpReason, message: string): void {
    this.#parts.state.end({ reason, message, finalAnswer: null });
  }

  note(entries: Record<string, string>): void {
    if (this.#parts.replay.note()) return;
    this.#attempt(() => this.#parts.continuation.note(entries));
  }

  /** Resolves when everything that the agent asked for is done; later requests are refused. */
  protected async finish(): Promise<void> {
    this.#closing = true;
    this.#order.close();
    await Promise.allSettled(this.#underWay);
  }

  #newBranch(id: BranchId, origin: BranchOrigin | null): AgentBranch {
    return new AgentBranch({
      ...{ id, origin },
      pauses: () => !this.#order.concurrent,
      step: (branch, action) => this.#takeStep(branch, action),
      fork: (branch, at) => this.#fork(branch, at),
    });
  }

  #takeStep(branch: AgentBranch, asked: Action): Promise<StepResult> {
    const action = readAction(asked);
    const agentRequest = this.#newRequest();
    return this.#guarded(() => branch.queue.take(() => this.#step(branch, action, agentRequest)));
  }

  async #step(branch: AgentBranch, action: RequestedAction, agentRequest: AgentRequest): Promise<StepResult> {
    const { replay, continuation, limits, state } = this.#parts;
    state.throwIfFailed();
    if (this.#isOver(agentRequest)) return await this.#closed(branch, agentRequest);
    const found = replay.step(branch.id, branch.lastStep + 1, action, this.#order.next);
    if (found !== null) {
      await this.#order.recorded(found.place);
      const { result, ending } = repeatStep(found.recorded, limits);
      if (ending !== null) state.end(ending);
      this.#endedByStep ||= ending !== null;
      return branch.note({ ...result, ended: this.#endedByStep });
    }
    await this.#order.beyond();
    if (state.ending !== null) return await this.#closed(branch, agentRequest);
    const result = await this.#order.live(async (recorded) => {
      let ended = false;
      const done = await continuation.step(branch, action, (isLast) => {
        this.#endedByStep ||= isLast;
        ended = this.#order.concurrent ? this.#endedByStep : state.ending !== null;
        recorded();
      });
      return done === null ? null : { ...done, ended };
    });
    return result === null ? await this.#closed(branch, agentRequest) : branch.note(result);
  }

  async #answer(request: ModelRequest, asked: number, agentRequest: AgentRequest): Promise<ModelReply> {
    const { replay, continuation, state } = this.#parts;
    state.throwIfFailed();
    const closed = async (): Promise<ModelReply> => {
      await this.#refused(agentRequest);
      return { kind: 'closed', message: state.ending?.message ?? 'The run has ended.' };
    };
    if (this.#isOver(agentRequest)) return await closed();
    const found = replay.ask(request, asked, this.#order.next);
    if (found !== null) {
      await this.#order.recorded(found.place);
      continuation.repeated(request, found.recorded);
      return found.recorded.answer;
    }
    await this.#order.beyond();
    if (state.ending !== null) return await closed();
    const reply = await this.#order.live((recorded) => continuation.ask(request, asked, recorded));
    return reply.kind === 'closed' ? await closed() : reply;
  }

  #fork(branch: AgentBranch, at: number | undefined): Promise<Branch> {
    if (this.#forks === maxForks) {
      const refused = new RefusedFork(`A run can be forked ${maxForks} times.`);
      return this.#guarded(() => Promise.reject(refused));
    }
    this.#forks += 1;
    const agentRequest = this.#newRequest();
    const id = BranchIdSchema.parse(`b${this.#forks}`);
    this.#order.concurrent = true;
    return this.#guarded(() => branch.queue.take(() => this.#makeBranch(id, branch, at, agentRequest)));
  }

  async #makeBranch(
    id: BranchId,
    from: AgentBranch,
    at: number | undefined,
    agentRequest: AgentRequest,
  ): Promise<Branch> {
    const { replay, continuation, state } = this.#parts;
    state.throwIfFailed();
    const step = at ?? from.lastStep;
    if (!Number.isInteger(step) || step < 0 || step > from.lastStep) {
      throw new RefusedFork(`Branch ${from.id} has the steps 0 to ${from.lastStep}, and no step ${step}.`);
    }
    const origin = { branch: from.id, step };
    const branch = this.#newBranch(id, origin);
    const found = agentRequest.isLate ? null : replay.fork(id, origin, this.#order.next);
    if (found !== null) {
      await this.#order.recorded(found.place);
      branch.isOpen = true;
      return branch;
    }
    await this.#order.beyond();
    if (state.ending === null && !agentRequest.isLate) {
      branch.isOpen = await this.#order.live((recorded) => continuation.fork(id, origin, recorded));
    }
    // The run has ended: nothing can be done on the branch.
    if (!branch.isOpen) await this.#order.idle(agentRequest.number);
    return branch;
  }

  #newRequest(): AgentRequest {
    this.#requestCount += 1;
    return { number: this.#requestCount, isLate: this.#closing };
  }

  /** Whether the request is refused, even if its result is recorded. */
  #isOver({ isLate }: AgentRequest): boolean {
    return isLate || (this.#parts.state.ending !== null && !this.#order.concurrent);
  }

  async #closed(branch: AgentBranch, agentRequest: AgentRequest): Promise<StepResult> {
    await this.#refused(agentRequest);
    const { message } = this.#parts.state.ending ?? { message: 'the agent has stopped' };
    return {
      step: branch.lastStep,
      status: 'closed',
      observation: `The environment has shut down: ${message}`,
      exitCode: null,
      durationMs: 0,
      budget: this.#parts.continuation.budget(),
      submission: branch.submission,
      ended: true,
    };
  }

  /** Waits until the agent may learn that the run has ended. */
  async #refused(agentRequest: AgentRequest): Promise<void> {
    await this.#order.idle(agentRequest.number);
    this.#afterEnd += 1;
    if (this.#afterEnd <= mostAfterEnd) return;
    this.#ignoresEnd.resolve();
    await sleep(lateAnswerMs, undefined, { ref: false });
  }

  #guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = (async () => {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof RefusedFork)) this.#parts.state.fail(error);
        throw error;
      }
    })();
    this.#underWay.add(result);
    // The error is in `state.failure`: an agent that ignores the result must not end the process.
    result.catch(() => {}).finally(() => this.#underWay.delete(result));
    return result;
  }

  /** For callers that can't catch: the current or the next step throws the error. */
  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#parts.state.fail(error);
    }
  }
}
