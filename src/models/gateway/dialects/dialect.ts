import type { DialectName, ModelAnswer, ModelRequest, TokenUsage } from '../../../schema/index.ts';
import type { JsonEdit } from '../json-edits.ts';

/** The HTTP interface of a provider, which programs use at the gateway. */
export interface Dialect {
  readonly name: DialectName;
  /** What a path asks for; null if it does not belong to this dialect. Paths begin after the version. */
  route(path: string): Route | null;
  /** The parts of a request that people and the meter can see. */
  read(body: JsonObject): ReadRequest;
  /** The changes that are needed before it is forwarded; a text says why it is refused. */
  prepare(request: RequestText, target: Target): PreparedCall | { problem: string };
  createReader(): AnswerReader;
  /** An error in the dialect's format, such that clients only retry if that may help. */
  error(code: ErrorCode, message: string): HttpAnswer;
  /** An event that says within a stream that nothing has happened. */
  readonly keepAlive: string;
  /** The list of models that can be requested. */
  models(names: readonly string[]): object;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Route {
  /** `count`: it costs nothing, and no model answers. */
  kind: 'generate' | 'count';
  /** The model, if the path names it. */
  model: string | null;
  /** Null if the body says it. */
  isStreaming: boolean | null;
  /** The provider's path for it, after its base URL. */
  pathFor(model: string): string;
}

export interface RequestText {
  text: string;
  body: JsonObject;
}

export interface Target {
  /** The provider's name for the model. */
  model: string;
  /** Whether tools are allowed that the provider itself runs, such as web search. */
  serverTools: boolean;
}

export interface PreparedCall {
  edits: JsonEdit[];
  /** The program did not ask for the usage of a stream, so events that report it are hidden from the program. */
  hidesUsage: boolean;
}

export interface ReadRequest {
  model: string | null;
  isStreaming: boolean;
  messages: ModelRequest['messages'];
  tools: NonNullable<ModelRequest['tools']>;
  /** The model must call one tool that the request names: what it calls it with is the answer that is wanted. */
  isForced: boolean;
  stop: string[];
  temperature: number | null;
  limits: OutputLimits;
}

/** The members of a request that limit its answers, by their names: as the program gave them, or undefined. */
export interface OutputLimits {
  /** The most tokens of each answer. */
  tokens: Readonly<Record<string, unknown>>;
  /** The number of answers. */
  answers: Readonly<Record<string, unknown>>;
}

/** Reads a model's answer while it passes through. */
export interface AnswerReader {
  /** A piece of a stream, or a whole reply. */
  add(value: unknown): void;
  readonly answer: ReadAnswer;
}

export interface ReadAnswer {
  /** What has arrived so far; null: nothing of a model's answer. */
  answer: ModelAnswer | null;
  answeredBy: string | null;
  /** Null until the provider has counted. */
  usage: TokenUsage | null;
  /** Whether the model reasoned without showing it. */
  isReasoningHidden: boolean;
  /** Whether it is complete. */
  isComplete: boolean;
  /** Whether the provider has said at least why it ended. */
  hasEnded: boolean;
  /** The error that the provider reported within a stream; null if there was none. */
  error: unknown;
}

export type ErrorCode =
  | 'unauthorised'
  | 'not_found'
  | 'bad_request'
  /** A client that is refused this upgrade continues by HTTP. */
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
