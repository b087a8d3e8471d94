import type { ProcessEnd } from '../sandbox/index.ts';
import type { Budget, ModelRequest, TaskBrief, UndoEntry } from '../schema/index.ts';
import type { ModelReply } from './environment.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

/** How a script or command ended, with its output, cut to the size of an observation. */
export interface CommandResult {
  end: ProcessEnd;
  output: string;
}

export interface CommandOptions {
  /** Ends the command after this time even if the limits allow more. */
  timeoutMs?: number;
  /** Neither shown live nor cut: its output is data for the harness. */
  quiet?: boolean;
  /** Standard input; default: empty. */
  input?: Uint8Array;
}

/** The interpreter's answer to one piece of code. */
export type ReplAnswer =
  | { kind: 'answered'; output: string; failed: boolean }
  | { kind: 'ended'; output: string; end: ProcessEnd };

/** What an action may use: files, commands, models, and the person who watches the run. */
export interface ActionContext {
  readonly task: TaskBrief;
  readonly files: WorkspaceFiles;
  readonly undoStack: readonly UndoEntry[];
  budget(): Budget;
  /** Stores the file's current content so that an edit of it can be undone. */
  remember(path: string): UndoEntry;
  /** The content that an undo entry stores; null if the file did not exist. */
  recall(entry: UndoEntry): Buffer | null;
  /** Runs a command in the sandbox with the workspace as current directory. */
  command(argv: readonly [string, ...string[]], options?: CommandOptions): Promise<CommandResult>;
  /** Runs a script of the Python helpers (`python/`), which sees nothing of the workspace's modules. */
  helper(script: string, args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  repl(code: string): Promise<ReplAnswer>;
  /** Calls a language model; only for actions that need one. `closed` if a limit allows no further call. */
  ask(request: ModelRequest): Promise<ModelReply>;
  /** Asks the person who watches the run; only for actions that need one. */
  askPerson(request: string): Promise<string>;
  /** Path of the task's public manifest for sandboxed processes. */
  readonly briefInside: string;
  /** Paths of workspace and data for sandboxed processes. */
  readonly inside: { workspace: string; data: string };
}
