import type { ModelRequest } from '../../schema/index.ts';
import type { AnsweredCall } from './caller.ts';

/** The HTTP interface of a provider, as processes speak it that reach the gateway on a socket. */
export interface Dialect {
  /** Where requests are posted. */
  readonly path: string;
  /** A request as a model is asked, or what is wrong with it. */
  readRequest(body: string): ModelRequest | { problem: string };
  /** @param model what the model is called to the process */
  answer(model: string, answered: AnsweredCall): HttpAnswer;
  /** The body of an error. */
  error(code: string, message: string): object;
  /** The bodies of what else can be got, by path. */
  documents(model: string): Readonly<Record<string, object>>;
}

export interface HttpAnswer {
  status: number;
  body: object;
}
