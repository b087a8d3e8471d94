import type { Environment } from '../environment/index.ts';
import type { AgentOptions, Lesson } from '../schema/index.ts';
import type { Program } from './outside/program.ts';

export interface AgentContext {
  environment: Environment;
  seed: number;
  options: AgentOptions;
  /** Files of the reference solution by path; only for an agent that `needs.reference`. */
  reference: ReadonlyMap<string, string> | null;
  /** Lessons of earlier runs, best first, as in the plan; only for an agent that `usesExperience`. */
  experience?: readonly Lesson[] | undefined;
  /** Its contents are closed when the run is over, however it ended. */
  resources?: AsyncDisposableStack | undefined;
}

/** Decides what to do next from what it has seen; `Environment` says on what its decisions may depend. */
export interface Agent {
  readonly name: string;
  /** One sentence for lists of agents. */
  readonly summary: string;
  /** Shown in reports if runs of several versions are compared; absent: a hash of its source is shown. */
  readonly version?: string | undefined;
  readonly needs: { model: boolean; reference: boolean };
  /** Whether it can use lessons from earlier runs. */
  readonly usesExperience?: true;
  /** Its options by name, with their descriptions and defaults: for help, and to refuse unknown ones. */
  readonly options: Readonly<Record<string, { description: string; default: string | number | boolean }>>;
  /**
   * Called before anything is run. Throws a UserError for an invalid value of an option, or a package that is not
   * installed.
   */
  ready?(options: AgentOptions): void | Promise<void>;
  /**
   * Only for an agent that is a program with its own loop: it is started in the run's sandbox, and `run` is not called.
   */
  readonly program?: Program;
  /** Others control it step by step, so its runs are recorded, but not replayed. */
  readonly ledFromOutside?: true;
  /** Returns when it has nothing more to do; a Final Answer before that ends the run properly. */
  run(context: AgentContext): Promise<void>;
}
