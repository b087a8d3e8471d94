import type { Sandbox } from '../sandbox/index.ts';
import type { Budget, TaskBrief, UndoEntry } from '../schema/index.ts';
import type { ObjectStore } from '../store/index.ts';
import type { ActionContext, CommandOptions } from './action-context.ts';
import { briefInside, type CommandRunner } from './command-runner.ts';
import type { WorkspaceFiles } from './workspace-files.ts';
import { PathFailed, workspaceInside } from './workspace-path.ts';

const largestRemembered = 256 * 2 ** 20;

export interface ActionContextParts {
  task: TaskBrief;
  files: WorkspaceFiles;
  objects: ObjectStore;
  commands: CommandRunner;
  sandbox: Sandbox;
  undoStack: readonly UndoEntry[];
  step: () => number;
  budget: () => Budget;
  /** The current time limit for a command, in milliseconds. */
  timeLimitMs: () => number;
  ask: ActionContext['ask'];
  askPerson: ActionContext['askPerson'];
}

/** Assembles what actions work with. */
export function createActionContext(parts: ActionContextParts): ActionContext {
  const { task, files, objects, commands, sandbox, undoStack, step, budget, timeLimitMs } = parts;
  const limit = ({ timeoutMs = Number.POSITIVE_INFINITY }: CommandOptions) =>
    Math.min(timeoutMs, timeLimitMs());
  return {
    task,
    files,
    undoStack,
    budget,
    remember: (path) => remember(files, objects, path),
    recall: (entry) => (entry.before === null ? null : objects.get(entry.before)),
    command: (argv, options = {}) => commands.run(step(), argv, limit(options), options),
    helper: (script, args, options = {}) => commands.helper(step(), script, args, limit(options), options),
    repl: (code) => commands.repl(step(), code, timeLimitMs()),
    ask: parts.ask,
    askPerson: parts.askPerson,
    briefInside: sandbox.pathInside(briefInside),
    inside: {
      workspace: sandbox.pathInside(workspaceInside),
      data: sandbox.pathInside(`${workspaceInside}/data`),
    },
  };
}

function remember(files: WorkspaceFiles, objects: ObjectStore, path: string): UndoEntry {
  const real = files.pathOf(path);
  if (files.kindOf(path) === null) return { path: real, before: null };
  try {
    return { path: real, before: objects.putBytes(files.readWhole(path, largestRemembered)) };
  } catch (error) {
    if (error instanceof PathFailed) throw new PathFailed(`${path} can't be edited: ${error.message}`);
    throw error;
  }
}
