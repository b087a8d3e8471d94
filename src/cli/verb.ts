import type { Context, VerbResult } from './context.ts';

/** How help says that a flag takes several values. */
export const severalWords = { commas: 'several: commas or repeated', repeated: 'may be repeated' } as const;

/** One flag: written once, for parsing and for help. */
export interface Flag {
  /** As commander reads it: `--seeds <n>`. */
  flags: string;
  description: string;
  default?: string | boolean;
  /** The values that it takes, where there are a few. */
  choices?: readonly string[];
  /** Turns the text into a value; throws a UserError that says what is expected. Default: the text, which must be one of the choices. */
  parse?: (text: string, flag: string) => unknown;
  /** May be given several times; `commas`: or once with commas. */
  many?: 'commas' | 'repeated';
  /** What it was called before: `--broken`. It still works, and says the new name. */
  formerly?: string;
}

export interface Argument {
  /** `<run>` needed, `[run]` optional, `[runs...]` any number. */
  name: string;
  description: string;
  /** The words that it may be, where there are a few. */
  choices?: readonly string[];
}

/** One verb of the command line. */
export interface Verb {
  arguments: Argument[];
  flags: Flag[];
  /** Shown below the help, each with what it does. */
  examples: [command: string, meaning: string][];
  /** More about it, below the summary. */
  details?: string;
  /** When the exit code is 1: completed with a negative result. */
  negative?: string;
  /** It changes no run and starts nothing that has to be ended, so that Ctrl-C may end it anywhere. */
  onlyReads?: true;
  run(context: Context, args: string[], options: object): Promise<VerbResult>;
}
