import { messageOf } from '../lib/errors.ts';
import { ModelUnavailable } from '../models/index.ts';
import { SandboxError } from '../sandbox/index.ts';
import type { ActionOutcome, Checked } from './action.ts';
import type { ActionContext } from './action-context.ts';
import { type FixedFile, restoreFixedFiles } from './fixed-files.ts';
import { ExperimentQuotaUsed } from './model-access.ts';
import { RunStopped } from './run-stopped.ts';
import { WorkspaceFull } from './workspace-files.ts';
import { PathFailed, PathRefused } from './workspace-path.ts';

export interface ActionPerformerParts {
  context: ActionContext;
  /** Absolute path on the host. */
  workspace: string;
  fixedFiles: readonly FixedFile[];
  /** Ends all processes in the workspace. */
  closeCommands: () => Promise<void>;
  signal: AbortSignal;
}

/**
 * Performs actions in one workspace. Whatever happens is an outcome for the agent, unless the harness itself failed.
 */
export class ActionPerformer {
  readonly #parts: ActionPerformerParts;

  constructor(parts: ActionPerformerParts) {
    this.#parts = parts;
  }

  /** @throws RunStopped, and errors that the agent neither caused nor could handle */
  async perform(checked: Checked): Promise<ActionOutcome> {
    const { context, signal } = this.#parts;
    if (!checked.ok) return { status: 'invalid', observation: checked.observation };
    try {
      const outcome = await checked.definition.run(context, checked.args);
      if (signal.aborted) throw new RunStopped('The run was stopped.');
      return outcome;
    } catch (error) {
      if (error instanceof PathRefused) return { status: 'refused', observation: error.message };
      if (error instanceof WorkspaceFull) return { status: 'workspace_full', observation: error.message };
      if (error instanceof PathFailed) return { status: 'failed', observation: error.message };
      if (SandboxError.isInstance(error)) {
        const displaced = await this.#restore();
        if (displaced.length > 0) return notRun(displaced);
      }
      if (isInfrastructure(error) || error instanceof RunStopped || signal.aborted) throw error;
      return { status: 'error', observation: `The action failed inside the harness: ${messageOf(error)}` };
    }
  }

  /** Restores read-only files whose folders the agent moved, so that the sandbox can mount them again. */
  async #restore(): Promise<FixedFile[]> {
    const { closeCommands, workspace, fixedFiles } = this.#parts;
    await closeCommands();
    return restoreFixedFiles(workspace, fixedFiles);
  }
}

/** The sandbox or the model failed: the agent neither caused that nor could handle it. */
function isInfrastructure(error: unknown): boolean {
  return (
    SandboxError.isInstance(error) ||
    ModelUnavailable.isInstance(error) ||
    error instanceof ExperimentQuotaUsed
  );
}

function notRun(displaced: readonly FixedFile[]): ActionOutcome {
  const names = displaced.map(({ path }) => path).join(', ');
  const observation =
    `Nothing was run: folders of read-only files had been moved or replaced. They were put back: ${names}. ` +
    'Try again.';
  return { status: 'refused', observation };
}
