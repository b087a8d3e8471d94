import type { LiveEvent, ViewerInfo } from '../../../src/schema/index.ts';

/** What an answer is parsed with: the pages believe no data before. */
export interface Parser<Data> {
  parse(data: unknown): Data;
}

/** An answer that is no success, in words for people. */
export class SourceError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

export interface LiveListener {
  event(event: LiveEvent): void;
  /** `lost`: it is tried again by itself. */
  state(state: LiveState): void;
}
export type LiveState = 'connecting' | 'open' | 'lost';

export interface LiveTopic {
  experiment?: string | undefined;
  run?: string | undefined;
}

/** Where the pages get their data from: a server, or the files of an export. */
export interface Source {
  readonly info: ViewerInfo;
  /** An address below `api/`, without a query. */
  get<Data>(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    parser: Parser<Data>,
    signal: AbortSignal,
  ): Promise<Data>;
  /** Where a browser can download something from; null where there is nothing to be had. */
  download(path: readonly string[], query?: Readonly<Record<string, string>>): string | null;
  /** Null: nothing here ever changes. Returns how to stop. */
  live: ((topic: LiveTopic, listener: LiveListener) => () => void) | null;
}
