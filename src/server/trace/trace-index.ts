import { join, relative } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { deserialize, serialize } from 'node:v8';
import { openCacheDatabase, unlessBroken } from '../../lib/cache-database.ts';
import { type Extended, extendTable } from './extend-table.ts';
import { TraceTable } from './trace-table.ts';

/** Its name in a folder of experiments. */
export const traceIndexName = '.viewer.sqlite';

const create =
  'CREATE TABLE IF NOT EXISTS traces (path TEXT PRIMARY KEY, version INTEGER, content BLOB) STRICT;';
/** Increased with each change of a table's content. */
const version = 7;
/** Smaller traces are read as fast as their tables. */
const keptFromBytes = 2 ** 22;
/** In memory, for all runs together. */
const maxSteps = 200_000;

/**
 * Where the steps of traces are and how they ended, so that a page reads only one step of a trace. Tables are made once
 * and extended by what is appended; those of long traces are stored in a database beside the experiments.
 */
export class TraceIndex implements Disposable {
  readonly #tables = new Map<string, Extended>();
  readonly #reading = new Map<string, Promise<Extended>>();
  readonly #databases = new Map<string, DatabaseSync>();

  /**
   * The table for the current trace; concurrent callers share one read.
   * @param root the folder of experiments
   */
  async table(root: string, path: string): Promise<Extended> {
    const running = this.#reading.get(path);
    if (running !== undefined) return await running;
    const reading = this.#extend(root, path).finally(() => this.#reading.delete(path));
    this.#reading.set(path, reading);
    return await reading;
  }

  [Symbol.dispose](): void {
    for (const database of this.#databases.values()) database.close();
    this.#databases.clear();
  }

  /** Paths are stored relative, because a folder of experiments may be moved as a whole. */
  async #extend(root: string, path: string): Promise<Extended> {
    const known = this.#tables.get(path)?.table ?? this.#load(root, path);
    const bytesBefore = known?.bytes ?? 0;
    const extended = await extendTable(path, known);
    const { bytes } = extended.table;
    if (bytes > keptFromBytes && bytes - bytesBefore > keptFromBytes) this.#save(root, path, extended.table);
    this.#remember(path, extended);
    return extended;
  }

  #remember(path: string, extended: Extended): void {
    this.#tables.delete(path);
    this.#tables.set(path, extended);
    let steps = [...this.#tables.values()].reduce((sum, { table }) => sum + table.steps + 100, 0);
    for (const [oldest, { table }] of this.#tables) {
      if (steps <= maxSteps || oldest === path) return;
      this.#tables.delete(oldest);
      steps -= table.steps + 100;
    }
  }

  #database(root: string): DatabaseSync {
    const open = this.#databases.get(root) ?? openCacheDatabase(join(root, traceIndexName), create);
    this.#databases.set(root, open);
    return open;
  }

  #load(root: string, path: string): TraceTable | null {
    const query = 'SELECT content FROM traces WHERE path = ? AND version = ?';
    return unlessBroken(() => {
      const row = this.#database(root).prepare(query).get(relative(root, path), version);
      return row?.content instanceof Uint8Array ? TraceTable.parse(deserialize(row.content)) : null;
    });
  }

  #save(root: string, path: string, table: TraceTable): void {
    const columns = Object.entries(table.columns).map(([name, values]) => [
      name,
      values.slice(0, table.steps || 1),
    ]);
    const content = serialize({ ...table, columns: Object.fromEntries(columns) });
    const command = 'INSERT OR REPLACE INTO traces (path, version, content) VALUES (?, ?, ?)';
    unlessBroken(() => this.#database(root).prepare(command).run(relative(root, path), version, content));
  }
}
