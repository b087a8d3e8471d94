/**
 * Members of events in all dialects that the server writes, not the model. Whatever is in others counts, so that no
 * kind of output is free because it is new.
 */
const byServer = new Set([
  ...['id', 'call_id', 'item_id', 'object', 'type', 'role', 'status', 'obfuscation', 'logprobs'],
  ...['finish_reason', 'finishReason', 'stop_reason', 'usage', 'usageMetadata', 'error'],
  ...['model', 'modelVersion', 'responseId', 'system_fingerprint', 'service_tier', 'provider'],
  // It repeats the request.
  'response',
]);

/** The size of what a model wrote in an event of a stream, in bytes: all texts in it, and the arguments of calls. */
export function writtenBytes(event: unknown): number {
  if (typeof event === 'string') return Buffer.byteLength(event);
  if (event === null || typeof event !== 'object') return 0;
  if (Array.isArray(event)) return event.reduce((sum, item) => sum + writtenBytes(item), 0);
  return Object.entries(event).reduce((sum, [name, item]) => sum + memberBytes(name, item), 0);
}

function memberBytes(name: string, item: unknown): number {
  // The model chooses the names in Google's arguments, too.
  if (name === 'args') return Buffer.byteLength(JSON.stringify(item));
  return byServer.has(name) ? 0 : writtenBytes(item);
}
