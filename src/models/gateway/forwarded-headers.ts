import type { Redactor } from '../providers/index.ts';

/**
 * The program's headers that a provider gets: those that say how to read the body, which version and which program ask,
 * and which request it is. Others could choose the method, the fields of the reply, an account, or whoever serves it.
 */
const sentOn = new Set([
  ...[
    'accept',
    'accept-language',
    'content-type',
    'user-agent',
    'referer',
    'http-referer',
    'x-title',
    'x-app',
  ],
  ...['anthropic-version', 'anthropic-beta', 'anthropic-dangerous-direct-browser-access', 'openai-beta'],
  ...['x-goog-api-client', 'x-server-timeout', 'originator', 'version', 'x-openai-subagent'],
  ...['session_id', 'session-id', 'conversation_id', 'thread_id', 'thread-id', 'x-request-id'],
  ...['x-client-request-id', 'idempotency-key', 'traceparent', 'tracestate'],
]);
const sentOnPrefix = /^x-(stainless|codex|claude-code)-/;

/** Headers of one connection, and those that identify the account behind the key. */
const notSentBack = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'set-cookie', 'content-length', 'anthropic-organization-id'],
  ...['openai-organization', 'openai-project'],
]);

/** The program's headers that a provider gets, names and values in turn. */
export function headersOn(raw: readonly string[]): string[] {
  return chosen(raw, (name) => sentOn.has(name) || sentOnPrefix.test(name));
}

/** The provider's headers that a program gets, names and values in turn, without keys. */
export function headersBack(raw: readonly string[], redactor: Redactor): string[] {
  return chosen(raw, (name) => !notSentBack.has(name)).map((text) => redactor.text(text));
}

function chosen(raw: readonly string[], isChosen: (name: string) => boolean): string[] {
  // Headers that `connection` names belong to that connection.
  const own = new Set<string>();
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]?.toLowerCase() === 'connection')
      for (const name of (raw[at + 1] ?? '').split(',')) own.add(name.trim().toLowerCase());
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    if (isChosen(name) && !own.has(name)) kept.push(raw[at] ?? '', raw[at + 1] ?? '');
  }
  return kept;
}
