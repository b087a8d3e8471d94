import { sha256 } from '../lib/hash.ts';
import { ModelRequest } from '../schema/index.ts';

/** Identifies equal requests: by role, messages, tools and stop texts, but not by the model or its settings. */
export function requestHash(request: ModelRequest): string {
  const { role, messages, tools = [], stop = [] } = request;
  return sha256(JSON.stringify([role, messages, tools, stop]));
}

/** The request with its keys in a fixed order, so that equal requests have the same hash and text. */
export function normalRequest(request: ModelRequest): ModelRequest {
  return ModelRequest.parse(request);
}
