import type { IncomingHttpHeaders } from 'node:http';
import { chatCompletions } from './chat-completions.ts';
import type { Dialect } from './dialect.ts';

export { chatCompletions } from './chat-completions.ts';

const dialects: readonly Dialect[] = [chatCompletions];

/** The dialect of whoever asks for this path, which begins behind the version. */
export function dialectOf(path: string, _headers: IncomingHttpHeaders): Dialect {
  return dialects.find((dialect) => dialect.route(path) !== null) ?? chatCompletions;
}
