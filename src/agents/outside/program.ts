import type { AgentOptions, DialectName, ModelRequest } from '../../schema/index.ts';

/** Where a program comes from: one package of a registry, at a version, and what is installed beside it. */
export interface ProgramPackage {
  registry: 'npm' | 'pypi';
  name: string;
  /** The one that was tried; another can be chosen. */
  version: string;
  /** Further packages, each with its version. */
  beside?: readonly string[];
  /** Whether these are all that it imports: what else it asks for is not installed. Python alone. */
  isWhole?: boolean;
  /** The version of Python that it needs, such as `3.12`; default: whichever the tasks use. */
  python?: string;
}

/** Where a program finds things in its sandbox, and what it is told. */
export interface ProgramPlace {
  /** Folder of its bundle: what npm or pip made. */
  bundle: string;
  /** The path of one of its `hostFiles`, by its name there. */
  hostFile(name: string): string;
  /** Node, of an npm bundle; the interpreter of a Python one. */
  interpreter: string;
  /** Origin of the model gateway, such as `http://127.0.0.1:4080`. */
  gateway: string;
  /** What it sends as its key. */
  token: string;
  dialect: DialectName;
  /** The agent's model, as its provider calls it. */
  model: string;
  prompt: string;
  /** The file that holds the prompt, too. */
  brief: string;
  workspace: string;
  /** The script that the task begins with, in the workspace. */
  entry: string;
  /** Made anew for it, and thrown away. */
  home: string;
  options: AgentOptions;
}

export interface ProgramStart {
  argv: readonly [string, ...string[]];
  variables: Readonly<Record<string, string>>;
  /** Texts by their paths in its home. */
  files: Readonly<Record<string, string>>;
}

/** How a program is started that speaks the Agent Client Protocol over its standard input and output. */
export interface AcpStart extends ProgramStart {
  /** Its way to sign in, where it wants one before there is a session. */
  authMethod?: string;
}

/** A session of its own, by which a program continues when its run was cut off. */
export interface ProgramSession {
  /** The files and folders in its home that hold it. Names that end in `.db` are databases of SQLite. */
  keep: readonly string[];
  /** Starts it with what `keep` was after its last step, in the workspace as it was then. */
  start(place: ProgramPlace): ProgramStart;
}

/** What a program says of itself, in a line of its log. */
export interface Claim {
  session?: string | undefined;
  /** In US dollars, since it said so last. */
  cost?: number | undefined;
  tokens?: number | undefined;
  /** An agent that it started itself. */
  subagent?: string | undefined;
}

/** An agent that is a program with a loop, tools and prompts of its own: how it is installed, started and understood. */
export interface Program {
  /** Null: nothing is installed for it. */
  package: ProgramPackage | null;
  licence: string;
  /** What it can speak to its model. */
  dialects: readonly DialectName[];
  /** Absent: it does nothing by itself, and speaks the Agent Client Protocol alone. */
  start?(place: ProgramPlace): ProgramStart;
  /** Absent: it does not speak the Agent Client Protocol. */
  acp?(place: ProgramPlace): AcpStart;
  /** Absent: it starts over. Only for what was measured to lose nothing (docs/decisions/0031). */
  session?: ProgramSession;
  /** Whether a request is none of its turns: a title, a summary. What asks the fast model is none, either. */
  isSideCall?(request: ModelRequest): boolean;
  /** What one line of the log that it prints, as parsed JSON, says of itself; null: nothing. Absent: it prints none. */
  claim?(line: unknown): Claim | null;
  /** Files of the host that it is shown, read-only, by the names that they get. */
  hostFiles?(options: AgentOptions): Readonly<Record<string, string>>;
}

/** Whether a program is asked by the Agent Client Protocol, and not started to work through the task by itself. */
export function speaksAcp({ start, acp }: Program, { protocol }: AgentOptions): boolean {
  return acp !== undefined && (start === undefined || protocol === 'acp');
}
