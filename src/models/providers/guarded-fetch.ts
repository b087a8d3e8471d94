import { ownTurn } from '../../lib/own-turn.ts';

/** No data came for too long. */
export class StallError extends Error {
  override readonly name = 'StallError';
}

/** The server answered with a redirect, which is not followed: it would send the key to another host. */
export class RedirectError extends Error {
  override readonly name = 'RedirectError';
}

/** A stream was requested, but one piece of JSON came: an error, or the reply of a server that does not stream. */
export class UnstreamedReply extends Error {
  override readonly name = 'UnstreamedReply';
  readonly body: string;

  constructor(body: string) {
    super(
      'the server sent its reply in one piece although a stream was asked for (see stream in its settings)',
    );
    this.body = body;
  }
}

/** The most that is read of an error, or of a reply that is reported as one. */
const longestError = 2 ** 20;

/**
 * A `fetch` that gives up if neither the headers nor the next chunk of the body arrive for `stallMs`. Any bytes count,
 * so a server that sends keep-alive data while a model thinks is not given up.
 */
export function guardedFetch(stallMs: number, isStreaming: boolean): typeof fetch {
  return async (input, init) => {
    const stalled = new AbortController();
    const watch = createWatch(stallMs, () =>
      stalled.abort(new StallError(`nothing came for ${stallMs / 1000} s`)),
    );
    const signals = [stalled.signal, ...(init?.signal ? [init.signal] : [])];
    const response = await watch.during(
      fetch(input, { ...init, redirect: 'manual', signal: AbortSignal.any(signals) }),
    );
    // Processing a reply takes milliseconds, and a server may answer hundreds of calls at once.
    await ownTurn();
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new RedirectError(`the server redirects to ${originOf(response.headers.get('location'))}`);
    }
    if (response.body === null) return response;
    const isJson = /^application\/json\b/i.test(response.headers.get('content-type') ?? '');
    const isUnstreamed = isStreaming && response.ok && isJson;
    const mostBytes = response.ok && !isUnstreamed ? Number.POSITIVE_INFINITY : longestError;
    const watched = new Response(watchedBody(response.body, watch, mostBytes), response);
    if (isUnstreamed) throw new UnstreamedReply(await watched.text());
    return watched;
  };
}

interface Watch {
  /** Times only the wait for data: a slow reader is not a stall. */
  during<Value>(wait: Promise<Value>): Promise<Value>;
}

function createWatch(stallMs: number, onStall: () => void): Watch {
  return {
    async during(wait) {
      const timer = setTimeout(onStall, stallMs);
      try {
        return await wait;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

function watchedBody(
  body: ReadableStream<Uint8Array>,
  watch: Watch,
  mostBytes: number,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = mostBytes;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await watch.during(reader.read());
      if (!done) controller.enqueue(value.subarray(0, left));
      left -= value?.length ?? 0;
      if (done || left <= 0) controller.close();
      if (left <= 0) await reader.cancel();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function originOf(location: string | null): string {
  return location !== null && URL.canParse(location) ? new URL(location).origin : 'somewhere else';
}
