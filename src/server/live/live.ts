import type { ServerResponse } from 'node:http';
import type { LiveEvent } from '../../schema/index.ts';
import { safeHeaders } from '../http/answer.ts';
import type { Viewer } from '../viewer.ts';
import { LiveHub, type WatchedRun } from './live-hub.ts';
import { RunWatch } from './run-watch.ts';

const pollMs = 1000;
const beatMs = 15_000;
/** A page that returns within this time has missed nothing. */
const keepWatchMs = 60_000;
/** A connection with more unsent bytes than this is closed: the page reconnects. */
const maxWaitingBytes = 8_000_000;

/** Open pages, and watched runs, some for pages that were just closed. */
const maxPages = 200;
const maxWatched = 400;

interface Watched {
  watch: RunWatch;
  pages: number;
  goodbye: NodeJS.Timeout | null;
}

/** Live events for open pages. Without any, nothing is checked. */
export class Live implements Disposable {
  readonly hub = new LiveHub();
  readonly #watched = new Map<string, Watched>();
  /** Every open connection, and the experiment that its page shows. */
  readonly #responses = new Map<ServerResponse, string | null>();
  #viewer: Viewer | null = null;
  #looks: NodeJS.Timeout | null = null;

  readonly tell = (event: LiveEvent): void => this.hub.publish(event);

  start(viewer: Viewer): void {
    this.#viewer = viewer;
    this.#looks = setInterval(() => {
      // Failures are retried at the next poll.
      if (this.hub.isHeard) viewer.catalogue.look(this.#shown()).catch(() => {});
    }, pollMs);
    this.#looks.unref();
  }

  /** Whether no more pages are accepted. */
  get isFull(): boolean {
    return this.#responses.size >= maxPages || this.#watched.size >= maxWatched;
  }

  /**
   * Keeps a connection open and sends events.
   * @param shown the experiment that the page shows, or the one of its run `watched`
   */
  connect(
    response: ServerResponse,
    shown: string | null,
    watched: WatchedRun | null,
    lastId: string | null,
  ): void {
    response.writeHead(200, {
      ...safeHeaders,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
    });
    const release = watched === null ? null : this.#watch(watched);
    const send = (event: LiveEvent, id: string) => {
      if (response.writableLength > maxWaitingBytes) response.destroy();
      else response.write(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
    };
    const remove = this.hub.add({ watched, send }, lastId, release?.since ?? 0);
    release?.greet();
    const beat = setInterval(() => response.write(':\n\n'), beatMs);
    this.#responses.set(response, shown);
    response.on('close', () => {
      clearInterval(beat);
      remove();
      release?.leave();
      this.#responses.delete(response);
    });
  }

  [Symbol.dispose](): void {
    if (this.#looks !== null) clearInterval(this.#looks);
    for (const response of this.#responses.keys()) response.destroy();
    for (const { watch, goodbye } of this.#watched.values()) {
      if (goodbye !== null) clearTimeout(goodbye);
      watch[Symbol.dispose]();
    }
    this.#watched.clear();
  }

  #shown(): Set<string> {
    return new Set([...this.#responses.values()].flatMap((experiment) => experiment ?? []));
  }

  #watch(run: WatchedRun): { since: number; greet: () => void; leave: () => void } {
    const key = `${run.experiment}/${run.run}`;
    const known = this.#watched.get(key) ?? this.#begin(run);
    this.#watched.set(key, known);
    known.pages += 1;
    if (known.goodbye !== null) clearTimeout(known.goodbye);
    const leave = () => {
      known.pages -= 1;
      if (known.pages > 0) return;
      known.goodbye = setTimeout(() => {
        known.watch[Symbol.dispose]();
        this.#watched.delete(key);
      }, keepWatchMs);
      known.goodbye.unref();
    };
    return { since: known.watch.since, greet: () => known.watch.greet(), leave };
  }

  #begin(run: WatchedRun): Watched {
    if (this.#viewer === null) throw new Error('it was not started');
    const watch = new RunWatch(this.#viewer, run, this.hub.last, this.tell);
    return { watch, pages: 0, goodbye: null };
  }
}
