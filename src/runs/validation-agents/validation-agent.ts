import type { Agent } from '../../agents/index.ts';
import type { Grade, Limits, RunRecord, SandboxDriver } from '../../schema/index.ts';
import type { RecordedStep, RunFolder } from '../../store/index.ts';
import type { TaskResources } from '../workspace.ts';
import type { Attempt } from './attempts.ts';
import type { Secret } from './secrets.ts';

/** What a validation agent finds when it begins. */
export interface Scene {
  resources: TaskResources;
  helpersFolder: string;
  /** Where the run is kept. */
  folder: RunFolder;
  experimentFolder: string;
  /** A word that occurs nowhere else: what is found with it was left by this validation agent. */
  token: string;
  /** What no agent may read. */
  secrets: readonly Secret[];
  sandbox: SandboxDriver;
}

/** What the harness saw from outside. */
export interface Probe {
  /** What was looked at. */
  looked: string;
  breached: boolean;
  finding: string;
}

/** What is there when a run has ended and was graded. */
export interface Evidence {
  record: RunRecord;
  grades: readonly Grade[];
  steps: readonly RecordedStep[];
}

/** A validation agent made ready for one run. */
export interface Staged extends AsyncDisposable {
  agent: Agent;
  /** Files that the agent puts in place. */
  reference: ReadonlyMap<string, string> | null;
  /** What it tried; empty for one that tries nothing forbidden. Asked after the run. */
  attempts(evidence: Evidence): Attempt[];
  /** Looks for traces of success from outside, after the run. */
  probe(evidence: Evidence): Promise<Probe[]>;
}

/** A run whose outcome is known beforehand: it shows that a task can be solved, or that it can't be cheated. */
export interface ValidationAgent {
  name: string;
  /** One sentence. */
  summary: string;
  /** `no_breach` stands for no success, and no breach by what it tries. */
  expects: 'success' | 'no_success' | 'no_breach';
  /** In place of the task's. */
  limits: Partial<Limits>;
  /** Which steps are graded. */
  graded: 'final' | 'all';
  /** Whether the task has what the validation agent needs. */
  fits(resources: TaskResources): boolean;
  /** Whether its last script must end without an error; default: no. */
  mustRun?(resources: TaskResources): boolean;
  stage(scene: Scene): Promise<Staged>;
}
