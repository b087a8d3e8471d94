import type { LiveEvent, ViewerInfo } from '../../../src/schema/index.ts';

/** Parses a reply: pages use only parsed data. */
export interface Parser<Data> {
  parse(data: unknown): Data;
}

/** A failed request, in words for people. */
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
  /** `lost`: it reconnects by itself; `hidden`: when the page is shown again. */
  state(state: LiveState): void;
}
export type LiveState = 'connecting' | 'open' | 'lost' | 'hidden';

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
  /** The address of a download; null if there is none. */
  download(path: readonly string[], query?: Readonly<Record<string, string>>): string | null;
  /** Null: the data never changes. Returns a function that stops. */
  live: ((topic: LiveTopic, listener: LiveListener) => () => void) | null;
}
