import { type Agent, optionsFor } from '../agents/index.ts';
import { ReplayDiverged, ReplayEnvironment, recordedRun, TraceExhausted } from '../environment/index.ts';
import { AsyncDisposableStack } from '../lib/disposable-stack.ts';
import { messageOf } from '../lib/errors.ts';
import type { EventOf, RunSpec } from '../schema/index.ts';
import { type RunFolder, readTraceSync, resolveText } from '../store/index.ts';
import type { Task } from '../tasks/index.ts';
import { solutionFiles } from './solution-files.ts';

/** The result of replaying a run. */
export interface RunReplay {
  run: string;
  steps: number;
  /** Model calls by the agent itself. */
  calls: number;
  /** Where and how the agent differed from the recording; null if it did the same. */
  diverged: string | null;
}

/**
 * Runs the agent of a recorded run again, with nothing but the trace: every action and every model call gets its answer
 * from the trace, and must equal the recorded one.
 */
export async function replayRun(
  spec: RunSpec,
  folder: RunFolder,
  agent: Agent,
  task: Task,
  signal?: AbortSignal,
): Promise<RunReplay> {
  const { events } = readTraceSync(folder.tracePath);
  const recorded = recordedRun(events, (ref) => resolveText(folder.objects, ref));
  const last = events.at(-1);
  const end = last?.kind === 'run_ended' ? last : null;
  const there = { model: spec.roles !== undefined, person: spec.interactive === true };
  const environment = new ReplayEnvironment({ task: task.brief, limits: spec.limits, recorded, end, there });
  const { seed, experience } = spec;
  const options = optionsFor(agent, spec.agent_options);
  const reference = agent.needs.reference ? solutionFiles(task, 'solution') : null;
  const found = { run: spec.id, steps: recorded.steps.length, calls: recorded.calls.length };
  await using resources = new AsyncDisposableStack();
  const working = agent.run({ environment, seed, options, reference, experience, resources });
  using idle = new IdleWatch(environment, end, spec.limits.wall_seconds, signal);
  const thrown = await Promise.race([working, environment.ignoresEnd, idle.over]).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  signal?.throwIfAborted();
  await environment.end();
  const { missing, failure } = environment;
  // An agent may catch the errors of its environment.
  const { error } = failure ?? thrown ?? { error: null };
  if (error instanceof TraceExhausted) return { ...found, diverged: null };
  if (error instanceof ReplayDiverged) return { ...found, diverged: error.message };
  if (error !== null && end?.reason !== 'agent_error')
    return { ...found, diverged: `The agent failed: ${messageOf(error)}` };
  return { ...found, diverged: missing === null ? null : `The agent stopped before ${missing}.` };
}

const lookMs = 200;
/** For the next request of an agent that has one. */
const patienceMs = 2_000;

/**
 * Ends the replay of an agent that asks for nothing more: when all that was recorded was asked for, and the run ended
 * while its agent was busy otherwise; or when the time that the run had is over.
 */
class IdleWatch implements Disposable {
  readonly over: Promise<void>;
  readonly #timer: NodeJS.Timeout;

  constructor(
    environment: Pick<ReplayEnvironment, 'missing'>,
    end: EventOf<'run_ended'> | null,
    wallSeconds: number,
    signal: AbortSignal | undefined,
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    const begun = performance.now();
    const wasBusy = end === null || end.reason === 'time_limit';
    let idleMs = 0;
    this.#timer = setInterval(() => {
      idleMs = wasBusy && environment.missing === null ? idleMs + lookMs : 0;
      const isLate = performance.now() - begun > wallSeconds * 1000;
      if (signal?.aborted === true || idleMs > patienceMs || isLate) resolve();
    }, lookMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
