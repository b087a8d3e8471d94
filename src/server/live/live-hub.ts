import { randomBytes } from 'node:crypto';
import type { LiveEvent } from '../../schema/index.ts';

/** The run whose steps a page follows. */
export interface WatchedRun {
  experiment: string;
  run: string;
}

export interface Listener {
  watched: WatchedRun | null;
  send: (event: LiveEvent, id: string) => void;
}

const maxEvents = 2000;
const maxCharacters = 4_000_000;

/** Sends live events to open pages, and keeps the newest for pages whose connection broke. */
export class LiveHub {
  /** Identifies this server process: event ids of an earlier one are invalid. */
  readonly #life = randomBytes(6).toString('hex');
  readonly #listeners = new Set<Listener>();
  readonly #kept: { number: number; event: LiveEvent; size: number }[] = [];
  #size = 0;
  #last = 0;

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** The number of the newest event. */
  get last(): number {
    return this.#last;
  }

  publish(event: LiveEvent): void {
    this.#last += 1;
    this.#keep(event);
    for (const listener of this.#listeners)
      if (concerns(listener, event)) listener.send(event, this.#id(this.#last));
  }

  /**
   * Starts to send events to a page. A returning page gets what it missed, or is told to reload.
   * @param lastId the id of the last event that it got; null for a new page
   * @param watchedSince the number of the event since which its run has been watched without a gap
   */
  add(listener: Listener, lastId: string | null, watchedSince: number): () => void {
    const hadUntil = lastId === null ? null : this.#numberOf(lastId);
    if (lastId === null) listener.send({ kind: 'hello' }, this.#id(this.#last));
    else if (hadUntil === null || hadUntil < watchedSince)
      listener.send({ kind: 'reload' }, this.#id(this.#last));
    else {
      listener.send({ kind: 'hello' }, this.#id(hadUntil));
      for (const { number, event } of this.#kept) {
        if (number > hadUntil && concerns(listener, event)) listener.send(event, this.#id(number));
      }
    }
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #keep(event: LiveEvent): void {
    const size = JSON.stringify(event).length;
    this.#kept.push({ number: this.#last, event, size });
    this.#size += size;
    while (this.#kept.length > maxEvents || (this.#size > maxCharacters && this.#kept.length > 1)) {
      this.#size -= this.#kept.shift()?.size ?? 0;
    }
  }

  #id(number: number): string {
    return `${this.#life}-${number}`;
  }

  /** Null if events after it are no longer kept, or it is of another process. */
  #numberOf(id: string): number | null {
    const [life, number] = id.split('-');
    if (life !== this.#life || number === undefined || !/^\d{1,15}$/.test(number)) return null;
    const oldest = this.#kept[0]?.number ?? this.#last + 1;
    return Number(number) >= oldest - 1 && Number(number) <= this.#last ? Number(number) : null;
  }
}

function concerns({ watched }: Listener, event: LiveEvent): boolean {
  if (event.kind !== 'steps' && event.kind !== 'output') return true;
  return watched !== null && watched.experiment === event.experiment && watched.run === event.run;
}
