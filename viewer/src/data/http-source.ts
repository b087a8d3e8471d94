import { ViewerError, type ViewerInfo } from '../../../src/schema/index.ts';
import { watchServer } from './live-connection.ts';
import { type Parser, type Source, SourceError } from './source.ts';

/** A server's API, with live events. Requests wait until live events arrive, so that no change is missed in between. */
export function serverSource(info: ViewerInfo): Source {
  let listening = Promise.resolve();
  return {
    info,
    async get(path, query, parser, signal) {
      await listening;
      return await fetchJson(addressOf(path, query), parser, signal);
    },
    download: (path, query = {}) => addressOf(path, query),
    live(topic, listener) {
      const { promise, resolve } = Promise.withResolvers<void>();
      listening = promise;
      const stop = watchServer(topic, {
        event(event) {
          listener.event(event);
          resolve();
        },
        state(state) {
          listener.state(state);
          if (state === 'lost' || state === 'hidden') resolve();
        },
      });
      return () => {
        resolve();
        stop();
      };
    },
  };
}

/** The files of an export: the same addresses with the suffix `.json`. */
export function fileSource(info: ViewerInfo): Source {
  return {
    info,
    get: (path, _query, parser, signal) => fetchJson(`${addressOf(path, {})}.json`, parser, signal),
    download: () => null,
    live: null,
  };
}

export function addressOf(path: readonly string[], query: Readonly<Record<string, string>>): string {
  const asked = new URLSearchParams(query).toString();
  return `api/${path.map(encodeURIComponent).join('/')}${asked === '' ? '' : `?${asked}`}`;
}

export async function fetchJson<Data>(
  address: string,
  parser: Parser<Data>,
  signal: AbortSignal,
): Promise<Data> {
  const answer = await fetch(address, { signal, headers: { accept: 'application/json' } }).catch((error) => {
    if (signal.aborted) throw error;
    throw new SourceError('unreachable', 'The viewer does not answer.', 'Is `mlab view` still running?');
  });
  const data: unknown = await answer.json().catch(() => null);
  if (!answer.ok) {
    const parsed = ViewerError.safeParse(data);
    if (parsed.success) throw new SourceError(parsed.data.code, parsed.data.message, parsed.data.hint);
    throw new SourceError('http', `The viewer answered with status ${answer.status}.`, 'Reload the page.');
  }
  try {
    return parser.parse(data);
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    throw new SourceError(
      'unexpected',
      `A reply has an unexpected form: ${found.slice(0, 300)}`,
      'Pages and server are of different versions: reload the page.',
    );
  }
}
