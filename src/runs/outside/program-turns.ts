import type { Program } from '../../agents/index.ts';
import type { ProgramEnvironment } from '../../environment/index.ts';
import type { CallRecord, ProxyRequest, Upstream } from '../../models/index.ts';
import type { ProcessUsage, SandboxProcess } from '../../sandbox/index.ts';
import { type FinishedTurn, Turns } from './turns.ts';

/** What is known about a program's calls after it has ended. */
export interface ProgramOutcome {
  /** The number of answers to requests that are turns. */
  answers: number;
  /** The last text that its model wrote. */
  lastText: string | null;
  /** Why its last request, of any kind, was not answered; null if it was. */
  failure: CallRecord['failure'];
}

/** What is known about a program besides what the gateway sees. */
export interface Witness {
  /** Called when its model has answered. */
  answered(): void;
  /** What it reported since the last call, for a note; null: nothing. */
  takeNotes(): Record<string, string> | null;
}

/** Follows a program's requests to its models, and has each of its turns recorded before the next request is sent. */
export class ProgramTurns {
  readonly #program: Program;
  readonly #environment: ProgramEnvironment;
  readonly #witness: Witness | null;
  readonly #upstream: Pick<Upstream, 'withoutKeys'>;
  readonly #turns = new Turns();
  /** Restarts the clock after each call in progress, by the request's number. */
  readonly #asking = new Map<number, () => void>();
  #process: SandboxProcess | null = null;
  #used: ProcessUsage = { cpuSeconds: 0, peakMemoryBytes: null };
  /** Saves the program's session after a step; null: it has no session. */
  saveSession: (() => Promise<void>) | null = null;
  readonly outcome: ProgramOutcome = { answers: 0, lastText: null, failure: null };

  constructor(
    program: Program,
    environment: ProgramEnvironment,
    witness: Witness | null,
    upstream: Pick<Upstream, 'withoutKeys'>,
  ) {
    this.#program = program;
    this.#environment = environment;
    this.#witness = witness;
    this.#upstream = upstream;
  }

  /** From now on, measures what the program's processes use. */
  watch(process: SandboxProcess): void {
    this.#process = process;
  }

  async requested(asked: ProxyRequest): Promise<{ kind: 'send' } | { kind: 'closed'; message: string }> {
    const environment = this.#environment;
    try {
      const { steps_left: left } = environment.budget;
      const ended = this.#turns.endedBy(asked.request, this.#isSide(asked), left);
      await this.#record(ended);
      // The program waits for the answer to its request, so its session now contains what it knows after this step.
      if (ended.length > 0 && environment.closed() === null) await this.saveSession?.();
    } catch (error) {
      environment.fail(error);
    }
    const message = environment.closed();
    if (message !== null) return { kind: 'closed', message };
    this.#asking.set(asked.number, environment.asking());
    return { kind: 'send' };
  }

  waits(until: Promise<unknown>): void {
    this.#environment.waits(until);
  }

  sent(until: Promise<unknown>): void {
    this.#environment.sent(until);
  }

  answered(call: CallRecord, asked: ProxyRequest): void {
    try {
      this.#environment.called(call);
    } catch (error) {
      // A call that is not in the trace would count nowhere.
      this.#environment.fail(error);
      return;
    }
    const { answer, failure } = call;
    this.outcome.failure = failure;
    if (answer === null || this.#isSide(asked)) return;
    this.#witness?.answered();
    this.#turns.answered(answer, performance.now(), asked.isForced);
    this.outcome.answers += 1;
    if (answer.kind === 'answered' && answer.text.trim() !== '') this.outcome.lastText = answer.text;
  }

  /** Called when a request that was to be sent is over, whether it was sent or not. */
  ended({ number }: ProxyRequest): void {
    this.#asking.get(number)?.();
    this.#asking.delete(number);
  }

  /** Called when the program sends no more requests for now. Records its last actions, unless its steps are used up. */
  async settle(): Promise<void> {
    if (this.#environment.ending?.reason !== 'step_limit') await this.#record(this.#turns.rest());
  }

  /** Called when the program has ended. */
  async finish(): Promise<void> {
    await this.settle();
    this.#noteWords();
  }

  #isSide({ request }: ProxyRequest): boolean {
    return request.role !== 'agent' || this.#program.isSideCall?.(request) === true;
  }

  async #record(turns: readonly FinishedTurn[]): Promise<void> {
    for (const { action, observation, thought, began } of turns) {
      if (thought !== null) this.#environment.note({ Thought: thought });
      this.#noteWords();
      const usage = await this.#usedSince();
      const { ended } = await this.#environment.turn({ action, observation, status: 'ok', began, usage });
      if (ended) return;
    }
  }

  #noteWords(): void {
    const notes = this.#witness?.takeNotes() ?? null;
    if (notes === null) return;
    const shown = Object.entries(notes).map(([name, text]) => [name, this.#upstream.withoutKeys(text)]);
    this.#environment.note(Object.fromEntries(shown));
  }

  /** The use since the last turn; the peak memory is that of the whole run so far. */
  async #usedSince() {
    const before = this.#used;
    this.#used = (await this.#process?.usage()) ?? before;
    const { cpuSeconds, peakMemoryBytes } = this.#used;
    return {
      ...(cpuSeconds === null ? {} : { cpuSeconds: Math.max(0, cpuSeconds - (before.cpuSeconds ?? 0)) }),
      ...(peakMemoryBytes === null ? {} : { peakMemoryBytes }),
    };
  }
}
