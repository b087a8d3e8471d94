import type { ServerResponse } from 'node:http';
import type { LiveEvent } from '../../schema/index.ts';
import { safeHeaders } from '../http/answer.ts';
import type { Viewer } from '../viewer.ts';
import { LiveHub, type WatchedRun } from './live-hub.ts';
import { RunWatch } from './run-watch.ts';

const lookMs = 1000;
const beatMs = 15_000;
/** A page that comes back within this time has missed nothing. */
const lingerMs = 60_000;
/** A page that takes so little of what it is sent is let go: it comes back. */
const mostWaitingBytes = 8_000_000;

interface Watched {
  watch: RunWatch;
  pages: number;
  goodbye: NodeJS.Timeout | null;
}

/** Live events for pages that are open. While none is, nothing is looked at. */
export class Live implements Disposable {
  readonly hub = new LiveHub();
  readonly #watched = new Map<string, Watched>();
  readonly #responses = new Set<ServerResponse>();
  #viewer: Viewer | null = null;
  #looks: NodeJS.Timeout | null = null;

  readonly tell = (event: LiveEvent): void => this.hub.publish(event);

  start(viewer: Viewer): void {
    this.#viewer = viewer;
    this.#looks = setInterval(() => {
      // What can't be listed now is looked for again.
      if (this.hub.isHeard) viewer.catalogue.look().catch(() => {});
    }, lookMs);
    this.#looks.unref();
  }

  /** Keeps a connection open and tells what happens. */
  connect(response: ServerResponse, watched: WatchedRun | null, lastId: string | null): void {
    response.writeHead(200, {
      ...safeHeaders,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
    });
    const release = watched === null ? null : this.#watch(watched);
    const send = (event: LiveEvent, id: string) => {
      if (response.writableLength > mostWaitingBytes) response.destroy();
      else response.write(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
    };
    const remove = this.hub.add({ watched, send }, lastId, release?.since ?? 0);
    const beat = setInterval(() => response.write(':\n\n'), beatMs);
    this.#responses.add(response);
    response.on('close', () => {
      clearInterval(beat);
      remove();
      release?.leave();
      this.#responses.delete(response);
    });
  }

  [Symbol.dispose](): void {
    if (this.#looks !== null) clearInterval(this.#looks);
    for (const response of this.#responses) response.destroy();
    for (const { watch, goodbye } of this.#watched.values()) {
      if (goodbye !== null) clearTimeout(goodbye);
      watch[Symbol.dispose]();
    }
    this.#watched.clear();
  }

  #watch(run: WatchedRun): { since: number; leave: () => void } {
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
      }, lingerMs);
      known.goodbye.unref();
    };
    return { since: known.watch.since, leave };
  }

  #begin(run: WatchedRun): Watched {
    if (this.#viewer === null) throw new Error('it was not started');
    const watch = new RunWatch(this.#viewer, run, this.hub.last, this.tell);
    return { watch, pages: 0, goodbye: null };
  }
}
