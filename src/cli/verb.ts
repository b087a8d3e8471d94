import type { Context, VerbResult } from './context.ts';

/** How help says that a flag takes several values. */
export const severalWords = { commas: 'several: commas or repeated', repeated: 'may be repeated' } as const;

/** One flag: defined once, for parsing and for help. */
export interface Flag {
  /** In commander's syntax: `--seeds <n>`. */
  flags: string;
  description: string;
  default?: string | boolean;
  /** The values that it accepts, if there are only a few. */
  choices?: readonly string[];
  /**
   * Parses the text; throws a UserError that says what is expected. By default, the text must be one of the choices.
   */
  parse?: (text: string, flag: string) => unknown;
  /** May be given several times; with `commas` also once, as a list. */
  many?: 'commas' | 'repeated';
  /** Its former name: `--broken`. It still works, and prints the new name. */
  formerly?: string;
}

export interface VerbArgument {
  /** `<run>` required, `[run]` optional, `[runs...]` any number. */
  name: string;
  description: string;
  /** The words that it accepts, if there are only a few. */
  choices?: readonly string[];
}

/** One verb of the command line. */
export interface Verb {
  arguments: VerbArgument[];
  flags: Flag[];
  /** Shown below the help, each with what it does. */
  examples: [command: string, meaning: string][];
  /** More about it, below the summary. */
  details?: string;
  /** When the exit code is 1: completed with a negative result. */
  negative?: string;
  /** It changes no run and starts nothing that needs ending, so Ctrl-C may end it at any point. */
  onlyReads?: true;
  run(context: Context, args: string[], options: object): Promise<VerbResult>;
}
