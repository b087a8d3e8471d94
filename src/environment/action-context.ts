import type { ProcessEnd } from '../sandbox/index.ts';
import type { Budget, ModelRequest, TaskBrief, UndoEntry } from '../schema/index.ts';
import type { ModelReply } from './environment.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

/** How a script or command ended, with what it printed, cut to what an observation holds. */
export interface CommandResult {
  end: ProcessEnd;
  output: string;
}

export interface CommandOptions {
  /** Ends the command after this time even where the limits would allow more. */
  timeoutMs?: number;
  /** Not shown live and not cut: its output is data for the harness. */
  quiet?: boolean;
  /** What it reads from standard input; default: nothing. */
  input?: Uint8Array;
}

/** What an interpreter said to one piece of code. */
export type ReplAnswer =
  | { kind: 'answered'; output: string; failed: boolean }
  | { kind: 'ended'; output: string; end: ProcessEnd };

/** What actions work with. */
export interface ActionContext {
  readonly task: TaskBrief;
  readonly files: WorkspaceFiles;
  readonly undoStack: readonly UndoEntry[];
  budget(): Budget;
  /** Keeps the file's present content so that an edit of it can be undone. */
  remember(path: string): UndoEntry;
  /** The content that an undo entry keeps; null where the file was not there. */
  recall(entry: UndoEntry): Buffer | null;
  /** Runs a command in the sandbox with the workspace as current directory. */
  command(argv: readonly [string, ...string[]], options?: CommandOptions): Promise<CommandResult>;
  /** Runs a script of the Python helpers (`python/`), apart from anything in the workspace. */
  helper(script: string, args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  repl(code: string): Promise<ReplAnswer>;
  /** Asks a language model; only actions that need one may. `closed` when a limit allows no further call. */
  ask(request: ModelRequest): Promise<ModelReply>;
  /** Asks the person who watches the run; only actions that need one may. */
  askPerson(request: string): Promise<string>;
  /** Where sandboxed processes find the task's public manifest. */
  readonly briefInside: string;
  /** Where sandboxed processes find workspace and data. */
  readonly inside: { workspace: string; data: string };
}
