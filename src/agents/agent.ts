import type { Environment } from '../environment/index.ts';
import type { AgentOptions, Lesson } from '../schema/index.ts';
import type { Program } from './outside/program.ts';

export interface AgentContext {
  environment: Environment;
  seed: number;
  options: AgentOptions;
  /** Files of the reference solution by path; only for an agent that `needs.reference`. */
  reference: ReadonlyMap<string, string> | null;
  /** What earlier runs learned, best first, as the plan has it; only for an agent that `usesExperience`. */
  experience?: readonly Lesson[] | undefined;
  /** What is put there is closed when the run is over, however it ended. */
  resources?: AsyncDisposableStack | undefined;
}

/** Decides what to do next from what it has seen; see `Environment` for what it may decide from. */
export interface Agent {
  readonly name: string;
  /** One sentence for lists. */
  readonly summary: string;
  readonly needs: { model: boolean; reference: boolean };
  /** It can be given lessons from earlier runs. */
  readonly usesExperience?: true;
  /** Options by name, with what they do and their default: for help, and to refuse what is not there. */
  readonly options: Readonly<Record<string, { description: string; default: string | number | boolean }>>;
  /**
   * Asked before anything is run: throws a UserError for an option's value that makes no sense, or a package that is
   * not installed.
   */
  ready?(options: AgentOptions): void | Promise<void>;
  /** Of an agent that is a program with a loop of its own: it is started in the run's sandbox, and `run` is not called. */
  readonly program?: Program;
  /** Others lead it, step by step: its runs are recorded, not replayed. */
  readonly ledFromOutside?: true;
  /** Returns when it has nothing more to do; a Final Answer before that ends the run properly. */
  run(context: AgentContext): Promise<void>;
}
