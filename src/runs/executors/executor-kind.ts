import type { DoctorCheck } from '../../lib/doctor-check.ts';
import type { ModelRegistry } from '../../models/index.ts';
import type { ExecutorSettings, Plan } from '../../schema/index.ts';
import type { Experiment } from '../../store/index.ts';
import type { Executor } from '../jobs/executor.ts';

/** What an executor elsewhere is told of the place that it is used from. */
export interface ExecutorPlace {
  experiment: Experiment;
  settings: ExecutorSettings;
  /** How many jobs may be executed at the same time; undefined: as many as there is room for. */
  parallel: number | undefined;
  /** Words that start this mlab, with what every command of the experiment is given: `--task-dir FOLDER`. */
  command: readonly string[];
  /** For runs that ask language models: those that this machine reaches, and what all runs together may use. */
  models: { registry: ModelRegistry; spend: Plan['spend'] } | undefined;
  /** Of the environment. */
  variables: Readonly<Record<string, string | undefined>>;
  /** A line for who watches. */
  log: (line: string) => void;
  signal: AbortSignal;
}

/** Executes jobs elsewhere, where they go on when this process ends. To be closed. */
export interface RemoteExecutor extends Executor, AsyncDisposable {
  /** Cores that each job has there; undefined: as here. */
  readonly threads?: number | undefined;
  /** Ends what it was given and has not ended. @returns what became of it, a sentence */
  cancel(): Promise<string>;
}

/** Of a place where nothing is executed yet. */
export interface CheckPlace
  extends Pick<ExecutorPlace, 'settings' | 'command' | 'variables' | 'log' | 'signal'> {
  /** For files that workers see at the same path. */
  folder: string;
}

/** What `mlab doctor` says where jobs would be executed. */
export interface WorkerChecks {
  place: string;
  findings: DoctorCheck[];
}

/** A plan that is looked at before anything is made of it. */
export interface PlannedPlace extends Pick<ExecutorPlace, 'settings' | 'parallel' | 'command' | 'variables'> {
  plan: Plan;
  /** Of the experiment that would be made. */
  folder: string;
}

export interface ExecutorKind {
  /** What `--on` says: `slurm`; of an address, how it is written. */
  name: string;
  /** Whether this is meant. */
  matches(on: string): boolean;
  /** As it is written down in the experiment's folder, so that the next command finds it: without a password. */
  recorded(on: string): string;
  open(on: string, place: ExecutorPlace): Promise<RemoteExecutor>;
  /** What it would be given for the runs of a plan: documents for people, and for the tools of that place. */
  documents?(place: PlannedPlace): Promise<unknown[]>;
  /** Looks what one of its machines can do. */
  check?(place: CheckPlace): Promise<WorkerChecks>;
}
