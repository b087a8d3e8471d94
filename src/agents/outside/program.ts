import type { AgentOptions, DialectName, ModelRequest } from '../../schema/index.ts';

/** Where a program comes from: one package of a registry at a version, and the packages installed beside it. */
export interface ProgramPackage {
  registry: 'npm' | 'pypi';
  name: string;
  /** The version that was tried; another one can be chosen. */
  version: string;
  /** Further packages, each with its version. */
  beside?: readonly string[];
  /** Whether these are all its imports, so that its other requirements are not installed. Only for Python. */
  isWhole?: boolean;
  /** The version of Python that it needs, such as `3.12`; default: the one that the tasks use. */
  python?: string;
}

/** Where a program finds things in its sandbox, and its task. */
export interface ProgramPlace {
  /** The folder of its bundle, created by npm or pip. */
  bundle: string;
  /** The path of one of its `hostFiles`, by its name in the sandbox. */
  hostFile(name: string): string;
  /** Node for an npm bundle; the interpreter for a Python one. */
  interpreter: string;
  /** Origin of the model gateway, such as `http://127.0.0.1:4080`. */
  gateway: string;
  /** What it sends as its API key. */
  token: string;
  dialect: DialectName;
  /** The agent's model, under its provider's name for it; empty if the run has none, which only programs allow that say so. */
  model: string;
  prompt: string;
  /** The file that contains the prompt. */
  brief: string;
  workspace: string;
  /** The task's starter script, in the workspace. */
  entry: string;
  /** Created for this run, and thrown away after it. */
  home: string;
  options: AgentOptions;
}

export interface ProgramStart {
  argv: readonly [string, ...string[]];
  variables: Readonly<Record<string, string>>;
  /** Texts by their paths in its home. */
  files: Readonly<Record<string, string>>;
}

/** How to start a program that speaks the Agent Client Protocol over its standard input and output. */
export interface AcpStart extends ProgramStart {
  /** Its sign-in method, if it needs one before a session. */
  authMethod?: string;
}

/** A program's own session, from which it continues after its run was interrupted. */
export interface ProgramSession {
  /** The files and folders in its home that contain it. Names that end in `.db` are SQLite databases. */
  keep: readonly string[];
  /** Starts it with the contents of `keep` after its last step, in the workspace as it was then. */
  start(place: ProgramPlace): ProgramStart;
}

/** What a program reports about itself in a line of its log. */
export interface ProgramClaim {
  session?: string | undefined;
  /** In US dollars, since it said so last. */
  cost?: number | undefined;
  tokens?: number | undefined;
  /** An agent that it started itself. */
  subagent?: string | undefined;
}

/** An agent that is a program with its own loop, tools and prompts: how to install, start and understand it. */
export interface Program {
  /** Null: nothing needs to be installed. */
  package: ProgramPackage | null;
  licence: string;
  /** The dialects that it can use for its model. */
  dialects: readonly DialectName[];
  /** Whether a run of it may have no model; default: no. */
  modelIsOptional?: boolean;
  /** Absent: it does nothing by itself, and only speaks the Agent Client Protocol. */
  start?(place: ProgramPlace): ProgramStart;
  /** Absent: it does not speak the Agent Client Protocol. */
  acp?(place: ProgramPlace): AcpStart;
  /** Absent: it starts over. Only for programs that were measured to lose nothing (docs/decisions/0031). */
  session?: ProgramSession;
  /**
   * Whether a request is not one of its turns, such as one for a title or a summary. Requests to a model of
   * another role are not, either, if it is another model.
   */
  isSideCall?(request: ModelRequest): boolean;
  /** What one line of its printed log, as parsed JSON, reports about it; null: nothing. Absent: it prints no log. */
  claim?(line: unknown): ProgramClaim | null;
  /** Files of the host that it can see, read-only, by their names in the sandbox. */
  hostFiles?(options: AgentOptions): Readonly<Record<string, string>>;
}

/**
 * Whether a program is prompted by the Agent Client Protocol, instead of being started to work through the task by
 * itself.
 */
export function speaksAcp({ start, acp }: Program, { protocol }: AgentOptions): boolean {
  return acp !== undefined && (start === undefined || protocol === 'acp');
}
