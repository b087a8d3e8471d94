import type { Agent } from '../../agents/index.ts';
import type { Gate, StepProgress } from '../../environment/index.ts';
import type { RunFolder } from '../../store/index.ts';
import type { HeldGpus } from '../gpus/gpu-leases.ts';
import type { Bundle } from '../outside/bundle.ts';
import type { ExperimentModels } from '../tool-model.ts';
import type { TaskResources } from '../workspace.ts';

/** What one run is executed with. */
export interface RunServices {
  folder: RunFolder;
  resources: TaskResources;
  agent: Agent;
  /** Of an agent that is a program: what is installed of it; null where nothing is. */
  bundle?: Bundle | null | undefined;
  /** Files of the reference solution; only for an agent that needs it. */
  reference: ReadonlyMap<string, string> | null;
  helpersFolder: string;
  /** For an agent that needs them: the run's language models, and what all runs of the experiment may use. */
  models?: ExperimentModels | undefined;
  /** Answers Request Help; absent: nobody does. */
  askPerson?: ((request: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** Decides on every valid action before it is performed; absent: all are. */
  gate?: Gate | undefined;
  /** A session that has waited for it for so long ends, and is resumed when there is a decision; absent: it stays. */
  longestGateWait?: number | undefined;
  /** The container engine's command; default: docker. */
  dockerCommand?: string | undefined;
  versions: Record<string, string>;
  /** What the run was given; absent: none. */
  gpus?: HeldGpus | undefined;
  /** Threads that numerical libraries may use. */
  threads: number;
  signal: AbortSignal;
  onProgress: (progress: StepProgress) => void;
}
