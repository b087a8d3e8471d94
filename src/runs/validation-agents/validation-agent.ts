import type { Agent } from '../../agents/index.ts';
import type { Grade, Limits, RunRecord, SandboxDriver } from '../../schema/index.ts';
import type { RunFolder, TakenStep } from '../../store/index.ts';
import type { TaskResources } from '../workspace.ts';
import type { ValidationAttempt } from './attempts.ts';
import type { Secret } from './secrets.ts';

/** The surroundings of a validation agent. */
export interface ValidatedRun {
  resources: TaskResources;
  helpersFolder: string;
  /** The folder of the run. */
  folder: RunFolder;
  experimentFolder: string;
  /** A unique word: anything that contains it was left by this validation agent. */
  token: string;
  /** Files that no agent may read. */
  secrets: readonly Secret[];
  sandbox: SandboxDriver;
}

/** An observation of the harness from outside. */
export interface Probe {
  /** What was checked. */
  looked: string;
  breached: boolean;
  finding: string;
}

/** What is known when a run has ended and was graded. */
export interface EndedRun {
  record: RunRecord;
  grades: readonly Grade[];
  steps: readonly TakenStep[];
}

/** A validation agent prepared for one run. */
export interface Staged extends AsyncDisposable {
  agent: Agent;
  /** Files that the agent puts in place. */
  reference: ReadonlyMap<string, string> | null;
  /** Its attempts; empty for an agent that attempts nothing forbidden. Called after the run. */
  attempts(evidence: EndedRun): ValidationAttempt[];
  /** Looks for traces of success from outside, after the run. */
  probe(evidence: EndedRun): Promise<Probe[]>;
}

/** A run with a known outcome: it shows that a task can be solved, or that cheating does not work. */
export interface ValidationAgent {
  name: string;
  /** One sentence. */
  summary: string;
  /** `no_breach` means no success, and no breach by its attempts. */
  expects: 'success' | 'no_success' | 'no_breach';
  /** Replace those of the task. */
  limits: Partial<Limits>;
  /** Which steps are graded. */
  graded: 'final' | 'all';
  /** Whether the task has what the validation agent needs. */
  fits(resources: TaskResources): boolean;
  /** Whether its last script must end without an error; default: no. */
  mustRun?(resources: TaskResources): boolean;
  stage(scene: ValidatedRun): Promise<Staged>;
}
