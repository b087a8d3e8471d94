import type { AskForProcess } from '../models/index.ts';
import type { SandboxOptions } from '../sandbox/index.ts';
import type { SandboxDriver } from '../schema/index.ts';
import type { PreparedData, PythonEnvironment, Task } from '../tasks/index.ts';

/** How often a run's scripts are restarted. */
export const serviceRestarts = 10;

export interface LocalServicesOptions {
  task: Task;
  prepared: PreparedData;
  python: PythonEnvironment;
  /** Folders of the host that no sandbox may show. */
  concealed: readonly string[];
  helpersFolder: string;
  driver: SandboxDriver;
  sandboxOptions: SandboxOptions;
  /** Answers tools that call the model; absent: they get an error that there is none. */
  askForTool?: AskForProcess | undefined;
  /** How often a script that ends is restarted; default: never. */
  restarts?: number;
  signal: AbortSignal;
}
