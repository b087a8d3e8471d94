import type { IncomingHttpHeaders } from 'node:http';
import { chatCompletions } from './chat-completions.ts';
import type { Dialect } from './dialect.ts';
import { generateContent } from './generate-content.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

const dialects: readonly Dialect[] = [chatCompletions, responses, messages, generateContent];

/** The dialect with this path, which begins after the version; for unknown paths, the one that the headers suggest. */
export function dialectOf(path: string, headers: IncomingHttpHeaders): Dialect {
  const speaking = dialects.find((dialect) => dialect.route(path) !== null);
  if (speaking !== undefined) return speaking;
  if (headers['anthropic-version'] !== undefined) return messages;
  return headers['x-goog-api-key'] === undefined ? chatCompletions : generateContent;
}
