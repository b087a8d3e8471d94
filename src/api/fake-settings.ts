import type { ActionDescription, Branch } from '../environment/index.ts';
import type { ScriptedReplies } from '../models/index.ts';
import type { Action, ActionStatus, ModelAnswer, ModelRequest, TaskBriefInput } from '../schema/index.ts';

/** The result of a script. */
export interface ScriptResult {
  /** What the script printed. */
  output: string;
  /** Default: 0. Null: a signal ended it. */
  exitCode?: number | null;
  /** How long it took; default: 1. Advances the clock of the run. */
  seconds?: number;
  /** Default: `ok` for exit code 0, else `failed`. */
  status?: ActionStatus;
  /** Files that the script wrote: content by path. */
  writes?: Readonly<Record<string, string>>;
}

/** What one call of a language model uses up. */
export interface CallUse {
  tokens: number;
  /** Advances the clock of the run. */
  seconds: number;
}

/** Every setting has a default. */
export interface FakeEnvironmentSettings {
  /** The task as the agent sees it; missing fields get defaults. */
  task?: Partial<TaskBriefInput>;
  /** The workspace at the start: content by path. */
  files?: Readonly<Record<string, string>>;
  /**
   * Takes the place of Python: returns the result of a script, given its source and the files in the workspace. By
   * default a script prints nothing.
   */
  execute?(source: string, files: ReadonlyMap<string, string>): ScriptResult;
  /** The replies of the language models, in order or as a function of the request; without it, the run has none. */
  replies?: ScriptedReplies;
  /** Answers an action instead of the environment; if it returns undefined, the environment answers. */
  answer?(
    action: Action,
    files: ReadonlyMap<string, string>,
  ): { status?: ActionStatus; observation: string } | undefined;
  /** Maximum steps of the run; default: 50. */
  steps?: number;
  /** Maximum seconds of the run; default: 3600. */
  seconds?: number;
  /** Maximum tokens of the run; default: not limited. */
  tokens?: number;
  /** What a call of a language model uses up; default: nothing. */
  use?(request: ModelRequest, answer: ModelAnswer): CallUse;
  /** Maximum seconds of one script; default: 3600. */
  scriptSeconds?: number;
  /** The actions described to the agent. Default: those that this environment performs itself. */
  actions?: readonly ActionDescription[];
}

/** A branch of a run in a `FakeEnvironment`. */
export interface FakeBranch extends Branch {
  /** Its workspace: content by path. */
  readonly files: ReadonlyMap<string, string>;
  fork(at?: number): Promise<FakeBranch>;
}
