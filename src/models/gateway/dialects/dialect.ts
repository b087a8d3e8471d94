import type { DialectName, ModelAnswer, ModelRequest, TokenUsage } from '../../../schema/index.ts';
import type { Edit } from '../json-edits.ts';

/** The HTTP interface of a provider, as programs speak it to the gateway. */
export interface Dialect {
  readonly name: DialectName;
  /** What is asked for there; null where it is nothing of this dialect. Paths begin behind the version. */
  route(path: string): Route | null;
  /** What a person and a meter can see of a request. */
  read(body: JsonObject): ReadRequest;
  /** What must be changed before it is sent on; a text says why it is refused. */
  prepare(request: RequestText, target: Target): Prepared | { problem: string };
  createReader(): AnswerReader;
  /** An error in the dialect's words, made so that clients try again only where that may help. */
  error(code: ErrorCode, message: string): HttpAnswer;
  /** What says within a stream that nothing has happened. */
  readonly keepAlive: string;
  /** The models that can be asked for. */
  models(names: readonly string[]): object;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Route {
  /** `count`: it costs nothing, and no model answers. */
  kind: 'generate' | 'count';
  /** The model, where the path names it. */
  model: string | null;
  /** Null where the body says it. */
  isStreaming: boolean | null;
  /** Where it lies at the provider, behind its base URL. */
  pathFor(model: string): string;
}

export interface RequestText {
  text: string;
  body: JsonObject;
}

export interface Target {
  /** What the provider calls the model. */
  model: string;
  /** Whether tools may be used that the provider itself runs, such as a search of the web. */
  serverTools: boolean;
}

export interface Prepared {
  edits: Edit[];
  /** The program did not ask for the usage of a stream: what tells it is kept from the program. */
  hidesUsage: boolean;
}

export interface ReadRequest {
  model: string | null;
  isStreaming: boolean;
  messages: ModelRequest['messages'];
  tools: NonNullable<ModelRequest['tools']>;
  stop: string[];
  temperature: number | null;
  /** Null where the request sets no limit. */
  maxOutputTokens: number | null;
}

/** Reads what a model answers, as it passes by. */
export interface AnswerReader {
  /** A piece of a stream, or a whole reply. */
  add(value: unknown): void;
  readonly answer: ReadAnswer;
}

export interface ReadAnswer {
  /** What has come so far; null: nothing of a model's answer. */
  answer: ModelAnswer | null;
  answeredBy: string | null;
  /** Null until the provider has counted. */
  usage: TokenUsage | null;
  /** Whether it came to its end. */
  isComplete: boolean;
  /** What the provider reported within a stream; null where nothing. */
  error: unknown;
}

export type ErrorCode =
  | 'unauthorised'
  | 'not_found'
  | 'bad_request'
  /** Offered no upgrade to one: the client goes on by HTTP. */
  | 'no_websocket'
  | 'too_large'
  | 'over_quota'
  | 'closed'
  | 'rate_limited'
  | 'unavailable'
  | 'internal';

export interface HttpAnswer {
  status: number;
  body: object;
}
