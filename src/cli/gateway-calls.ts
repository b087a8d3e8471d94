import { closeSync, openSync, writeSync } from 'node:fs';
import { messageOf, UserError } from '../lib/errors.ts';
import type { CallRecord, ProxyRequest } from '../models/index.ts';

/** A file to which the calls of programs are appended, one JSON line each. Only its owner can read it. */
export class CallFile {
  readonly #descriptor: number;

  /** @throws UserError if it can't be written */
  constructor(path: string) {
    try {
      this.#descriptor = openSync(path, 'a', 0o600);
    } catch (error) {
      throw new UserError(
        'bad_file',
        `${path} can't be written: ${messageOf(error)}`,
        'Name another file with --record.',
      );
    }
  }

  add(
    { wire, answeredBy, usage, cost, latencyMs, waitingMs, failure }: CallRecord,
    request: ProxyRequest,
  ): void {
    const { number, asked, model } = request;
    const line = {
      ...{
        call: number,
        time: new Date().toISOString(),
        asked,
        model,
        answered_by: answeredBy,
        failure,
        usage,
        cost,
      },
      ...{ latency_ms: Math.round(latencyMs), waiting_ms: Math.round(waitingMs) },
      ...wire,
    };
    writeSync(this.#descriptor, `${JSON.stringify(line)}\n`);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
