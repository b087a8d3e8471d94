import type { Agent } from '../../agents/index.ts';
import type { Gate, StepProgress } from '../../environment/index.ts';
import type { RunFolder } from '../../store/index.ts';
import type { HeldGpus } from '../gpus/gpu-leases.ts';
import type { Bundle } from '../outside/bundle.ts';
import type { ExperimentModels } from '../tool-model.ts';
import type { TaskResources } from '../workspace.ts';

/** Everything needed to execute one run. */
export interface RunServices {
  folder: RunFolder;
  resources: TaskResources;
  agent: Agent;
  /** If the agent is a program: its installation; null if there is none. */
  bundle?: Bundle | null | undefined;
  /** Files of the reference solution; only for an agent that needs it. */
  reference: ReadonlyMap<string, string> | null;
  helpersFolder: string;
  /** For an agent that needs them: the run's language models, and the quota of all runs of the experiment. */
  models?: ExperimentModels | undefined;
  /** Answers Request Help; absent: nobody does. */
  askPerson?: ((request: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** Decides on every valid action before it is performed; absent: all are allowed. */
  gate?: Gate | undefined;
  /**
   * A session that has waited for decisions this long ends, and is resumed when there is one; absent: it keeps waiting.
   */
  longestGateWait?: number | undefined;
  /** The container engine's command; default: docker. */
  dockerCommand?: string | undefined;
  versions: Record<string, string>;
  /** The GPUs of the run; absent: none. */
  gpus?: HeldGpus | undefined;
  /** Threads that numerical libraries may use. */
  threads: number;
  signal: AbortSignal;
  onProgress: (progress: StepProgress) => void;
}
