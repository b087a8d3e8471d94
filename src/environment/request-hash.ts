import { sha256 } from '../lib/hash.ts';
import { ModelRequest } from '../schema/index.ts';

/** What makes two requests the same: role, messages, tools and stop texts, not the model or its settings. */
export function requestHash(request: ModelRequest): string {
  const { role, messages, tools = [], stop = [] } = request;
  return sha256(JSON.stringify([role, messages, tools, stop]));
}

/** The request with its keys in one order, so that the same request always has the same hash and text. */
export function normalRequest(request: ModelRequest): ModelRequest {
  return ModelRequest.parse(request);
}
