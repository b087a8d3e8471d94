import type { DoctorCheck } from '../../lib/doctor-check.ts';
import type { ModelRegistry } from '../../models/index.ts';
import type { ExecutorSettings, Plan } from '../../schema/index.ts';
import type { Experiment } from '../../store/index.ts';
import type { Task } from '../../tasks/index.ts';
import type { Executor } from '../jobs/executor.ts';
import type { Outage } from './outage.ts';

/** What a remote executor knows about the place that it is used from. */
export interface ExecutorPlace {
  experiment: Experiment;
  settings: ExecutorSettings;
  /** The most concurrent jobs; undefined: as many as there is room for. */
  parallel: number | undefined;
  /**
   * The words that start this mlab, with the options that every command of the experiment gets: `--task-dir FOLDER`.
   */
  command: readonly string[];
  /** For runs that use language models: the models that this machine can reach, and what all runs together may use. */
  models: { registry: ModelRegistry; spend: Plan['spend'] } | undefined;
  /** Environment variables. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Prints a line for the user. */
  log: (line: string) => void;
  onOutage: (outage: Outage) => void;
  signal: AbortSignal;
}

/** Executes jobs elsewhere, where they continue after this process ends. Must be closed. */
export interface RemoteExecutor extends Executor, Canceller {
  /** Cores of each job there; undefined: as here. */
  readonly threads?: number | undefined;
}

/** Must be closed. */
export interface Canceller extends AsyncDisposable {
  /** Ends the experiment's jobs that have not ended; with `runs`, only the jobs of these. */
  cancel(runs?: ReadonlySet<string>): Promise<Cancellation>;
}

/** What became of an experiment's jobs when they were cancelled. */
export interface Cancellation {
  /** Jobs that had not ended. */
  jobs: number;
  /** Those of them that are told to stop, and still record what they have. */
  ending: number;
  /** Why nothing was cancelled, and what to do; else null. */
  problem: string | null;
}

export function cancellationText({ jobs, ending, problem }: Cancellation): string {
  if (problem !== null) return problem;
  if (jobs === 0) return 'No job was queued or running.';
  const what = jobs === 1 ? '1 job was' : `${jobs} jobs were`;
  const still = ending === 0 ? '' : ` ${ending} of them ${ending === 1 ? 'is' : 'are'} still ending.`;
  return `${what} cancelled.${still} What is finished is kept; the same mlab run command submits the rest again.`;
}

/** A place where nothing is executed yet. */
export interface CheckPlace
  extends Pick<ExecutorPlace, 'settings' | 'command' | 'variables' | 'log' | 'signal'> {
  /** For files that workers see at the same path. */
  folder: string;
  /** Of this mlab. */
  version: string;
}

/** What `mlab doctor` reports about a place where jobs would be executed. */
export interface WorkerChecks {
  place: string;
  findings: DoctorCheck[];
}

/** A plan that is shown before anything is created from it. */
export interface PlannedPlace extends Pick<ExecutorPlace, 'settings' | 'parallel' | 'command' | 'variables'> {
  plan: Plan;
  /** By id. */
  tasks: ReadonlyMap<string, Task>;
  /** The folder of the experiment that would be created. */
  folder: string;
}

export interface ExecutorKind {
  /** The value of `--on`: `slurm`; for an address, its format. */
  name: string;
  /** Whether this kind is meant. */
  matches(on: string): boolean;
  /** The form that is written to the experiment's folder, so that the next command finds it: without a password. */
  recorded(on: string): string;
  /**
   * Checks that jobs can be submitted from this machine, before anything is planned.
   * @throws UserError
   */
  ready(on: string, place: Pick<ExecutorPlace, 'settings' | 'variables' | 'signal'>): Promise<void>;
  open(on: string, place: ExecutorPlace): Promise<RemoteExecutor>;
  /** To cancel jobs that another process submitted; default: as `open`. */
  openCanceller?(on: string, place: ExecutorPlace): Promise<Canceller>;
  /**
   * What to do about a limit on what all runs spend together, if it would not hold there because each machine counts
   * only its own calls; null: it holds. Default: it holds.
   */
  limitHint?(settings: ExecutorSettings): string | null;
  /** What it would submit for the runs of a plan: a script as text, or a document that is shown as YAML. */
  documents?(place: PlannedPlace): Promise<unknown[]>;
  /** Checks what one of its machines can do, or the service through which they get jobs. */
  check?(on: string, place: CheckPlace): Promise<WorkerChecks>;
}
