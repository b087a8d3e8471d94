import type { ActionDescription, Branch } from '../environment/index.ts';
import type { ScriptedReplies } from '../models/index.ts';
import type { Action, ActionStatus, TaskBriefInput } from '../schema/index.ts';

/** What running a script gives. */
export interface ScriptResult {
  /** What the script printed. */
  output: string;
  /** Default: 0. Null: a signal ended it. */
  exitCode?: number | null;
  /** How long it took; default: 1. The clock of the run moves by this. */
  seconds?: number;
  /** Default: `ok` for exit code 0, else `failed`. */
  status?: ActionStatus;
  /** Files that the script wrote: content by path. */
  writes?: Readonly<Record<string, string>>;
}

/** Every setting has a default. */
export interface FakeEnvironmentSettings {
  /** What the agent is told about its task. What you leave out is made up. */
  task?: Partial<TaskBriefInput>;
  /** The workspace at the start: content by path. */
  files?: Readonly<Record<string, string>>;
  /** Stands in for Python: the result of a script, from its source and the files in the workspace. Default: it prints nothing. */
  execute?(source: string, files: ReadonlyMap<string, string>): ScriptResult;
  /** What the language models answer, in order or by a function of the request; absent: the run has none. */
  replies?: ScriptedReplies;
  /** Answers an action in place of the environment; where it returns undefined, the environment answers. */
  answer?(
    action: Action,
    files: ReadonlyMap<string, string>,
  ): { status?: ActionStatus; observation: string } | undefined;
  /** Most steps of the run; default: 50. */
  steps?: number;
  /** Most seconds of the run; default: 3600. */
  seconds?: number;
  /** Most seconds of one script; default: 3600. */
  scriptSeconds?: number;
  /** What the agent is told about actions. Default: those that this environment answers by itself. */
  actions?: readonly ActionDescription[];
}

/** A branch of a run in a `FakeEnvironment`. */
export interface FakeBranch extends Branch {
  /** Its workspace: content by path. */
  readonly files: ReadonlyMap<string, string>;
  fork(at?: number): Promise<FakeBranch>;
}
