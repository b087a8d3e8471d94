import type { BranchId, BranchOrigin, Limits, ModelRequest } from '../schema/index.ts';
import { type Ending, endingOf } from './ending.ts';
import type { StepResult } from './environment.ts';
import type {
  RecordedCall,
  RecordedCompletion,
  RecordedFork,
  RecordedRun,
  RecordedStep,
} from './recorded-run.ts';
import { checkStep, describeDifference, ReplayDiverged, unexpected, whatIs } from './replay-differences.ts';
import { requestHash } from './request-hash.ts';
import type { RequestedAction } from './requested-action.ts';
import { submissionSeen } from './submission-tracker.ts';

/** The record of a request, and its position among all records. */
export interface Found<Recorded> {
  place: number;
  recorded: Recorded;
}

/**
 * Finds the records for what an agent asks: steps by branch and order, model calls by the order of the agent's calls,
 * forks by the name of the new branch. As long as there is one branch, the next record must match.
 */
export class Replay {
  readonly #recorded: RecordedRun;
  readonly #steps = new Map<BranchId, Found<RecordedStep>[]>();
  readonly #calls = new Map<number, Found<RecordedCall>>();
  readonly #forks = new Map<BranchId, Found<RecordedFork>>();
  readonly #stepsFound = new Map<BranchId, number>();
  readonly #found = { step: 0, call: 0, fork: 0 };
  #notes = 0;
  #selections = 0;

  constructor(recorded: RecordedRun) {
    this.#recorded = recorded;
    for (const [place, completion] of recorded.completions.entries()) this.#note(place, completion);
  }

  /** How many results the agent received. */
  get length(): number {
    return this.#recorded.completions.length;
  }

  /** @param next position of the record that must match; null: any may */
  step(
    branch: BranchId,
    step: number,
    action: RequestedAction,
    next: number | null,
  ): Found<RecordedStep> | null {
    const index = this.#stepsFound.get(branch) ?? 0;
    const found = this.#steps.get(branch)?.[index] ?? null;
    const expected = this.#other(found, next);
    if (expected?.kind === 'call') {
      const { purpose } = expected.call.event;
      throw new ReplayDiverged(
        `Before step ${step} the trace has a model call (${purpose}); the agent acted without it.`,
      );
    }
    if (expected !== null) throw unexpected(`took a step ("${action.name}")`, expected);
    if (found === null) return null;
    this.#stepsFound.set(branch, index + 1);
    checkStep(found.recorded, action);
    this.#found.step += 1;
    return found;
  }

  /** @param asked the number of this call among the agent's calls, from 1 */
  ask(request: ModelRequest, asked: number, next: number | null): Found<RecordedCall> | null {
    const found = this.#calls.get(asked) ?? null;
    const expected = this.#other(found, next);
    if (expected !== null) throw unexpected(`asked its model (${request.purpose})`, expected);
    if (found === null) return null;
    if (found.recorded.event.request !== requestHash(request))
      throw new ReplayDiverged(describeDifference(found.recorded, request));
    this.#found.call += 1;
    return found;
  }

  fork(branch: BranchId, origin: BranchOrigin, next: number | null): Found<RecordedFork> | null {
    const found = this.#forks.get(branch) ?? null;
    const where = `${origin.branch} at step ${origin.step}`;
    const expected = this.#other(found, next);
    if (expected !== null) throw unexpected(`forked ${where}`, expected);
    if (found === null) return null;
    const recorded = found.recorded.origin;
    if (recorded.branch !== origin.branch || recorded.step !== origin.step) {
      const before = `${recorded.branch} at step ${recorded.step}`;
      throw new ReplayDiverged(`The agent forked ${where}; in the trace ${branch} is forked from ${before}.`);
    }
    this.#found.fork += 1;
    return found;
  }

  /**
   * The recorded answer to a request of an action in the unfinished step; null if the action asks for something else.
   */
  askInStep(branch: BranchId, request: ModelRequest): RecordedCall | null {
    const { unfinished } = this.#recorded;
    if (unfinished.length === 0) return null;
    const hash = requestHash(request);
    const index = unfinished.findIndex(
      ({ event }) => event.request === hash && (event.branch ?? 'main') === branch,
    );
    return index < 0 ? null : (unfinished.splice(index, 1)[0] ?? null);
  }

  /** Whether this note is recorded already. */
  note(): boolean {
    this.#notes += 1;
    return this.#notes <= this.#recorded.notes;
  }

  /** Whether this selection is recorded already. */
  select(branch: BranchId): boolean {
    const recorded = this.#recorded.selected[this.#selections];
    if (recorded === undefined) return false;
    if (recorded !== branch) {
      throw new ReplayDiverged(`The agent selected ${branch}, where the trace has ${recorded}.`);
    }
    this.#selections += 1;
    return true;
  }

  /** The error that nobody asked for the record at a position. */
  unclaimed(place: number): ReplayDiverged {
    const completion = this.#recorded.completions[place];
    const what = completion === undefined ? 'nothing more' : whatIs(completion);
    return new ReplayDiverged(`The trace has ${what} next; the agent waits for something else.`);
  }

  /** What the agent did not ask for again, in words; null if it asked for everything. */
  get missing(): string | null {
    const { step, call, fork } = this.#found;
    const steps = this.#recorded.completions.filter(({ kind }) => kind === 'step').length - step;
    const calls = this.#recorded.calls.length - call;
    const forks = this.#recorded.forks.length - fork;
    if (steps + calls + forks === 0) return null;
    const branches = forks === 0 ? '' : `, ${forks} recorded branches`;
    return `${steps} recorded steps and ${calls} recorded model calls${branches}`;
  }

  #note(place: number, completion: RecordedCompletion): void {
    if (completion.kind === 'step') {
      const { step } = completion;
      const found = { place, recorded: step };
      const all = this.#steps.get(step.branch);
      if (all === undefined) this.#steps.set(step.branch, [found]);
      else all.push(found);
    } else if (completion.kind === 'call') {
      this.#calls.set(completion.asked, { place, recorded: completion.call });
    } else {
      this.#forks.set(completion.fork.branch, { place, recorded: completion.fork });
    }
  }

  /** The next record, if it is not the one that was found. */
  #other(found: Found<unknown> | null, next: number | null): RecordedCompletion | null {
    if (next === null || found?.place === next) return null;
    return this.#recorded.completions[next] ?? null;
  }
}

/**
 * The result of a recorded step as the agent gets it again, and whether the step ends the run. The limits of this run
 * decide that: a fork may have wider ones.
 */
export function repeatStep(
  recorded: RecordedStep,
  limits: Limits,
): { result: StepResult; ending: Ending | null } {
  const { step, status, observation, exitCode, durationMs, budget } = recorded;
  const left = {
    steps_left: limits.steps - budget.steps_used,
    seconds_left: limits.wall_seconds - budget.seconds_used,
  };
  const ending = endingOf(recorded.finalAnswer, left, limits, recorded.storedBytes ?? 0);
  const submission = submissionSeen(recorded.submission);
  const ended = ending !== null;
  return { result: { step, status, observation, exitCode, durationMs, budget, submission, ended }, ending };
}
