import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openCacheDatabase, unlessBroken } from '../lib/cache-database.ts';
import { hasCode } from '../lib/errors.ts';
import { RunEvaluation } from '../schema/index.ts';

/** Its name in a folder of experiments. */
export const indexName = '.evaluations.sqlite';

/** The files of a run's folder from which its evaluation is made. */
const evidence = ['run.json', 'trace.jsonl', 'trace.jsonl.zst', 'grades.jsonl', 'verifications.jsonl'];

/**
 * Evaluations by run, so that a run is read again only when its files or the evaluating code have changed. A cache that
 * can be deleted at any time. If its file can't be used, it is in memory.
 */
export class EvaluationIndex implements Disposable {
  readonly #database: DatabaseSync;
  readonly #code = codeVersion();

  /** @param folder of experiments */
  constructor(folder: string) {
    this.#database = openCacheDatabase(join(folder, indexName), table);
  }

  /** The evaluation of the run in a folder: the known one, or a new one. */
  evaluation(folder: string, evaluate: () => RunEvaluation): RunEvaluation {
    const state = stateOf(folder, this.#code);
    const known = this.#read(folder, state);
    if (known !== null) return known;
    const fresh = evaluate();
    // Whether a run is running is in none of its files, and one that has not begun has none: its plan may be another one
    // the next time. A file that changed meanwhile belongs to neither state.
    const isOver = fresh.status !== 'running' && fresh.status !== 'pending';
    const lasts = isOver && stateOf(folder, this.#code) === state;
    if (lasts) this.#write(folder, state, fresh);
    return fresh;
  }

  /** The evaluation of the run in a folder, if it is known for the current files. */
  known(folder: string): RunEvaluation | null {
    return this.#read(folder, stateOf(folder, this.#code));
  }

  /** Whether other processes can read what is written here; false if it is in memory. */
  get isShared(): boolean {
    return this.#database.location() !== null;
  }

  /** Whether the evaluation of the run in a folder is known for its current files. */
  has(folder: string): boolean {
    const query = 'SELECT 1 FROM evaluations WHERE folder = ? AND state = ?';
    const state = stateOf(folder, this.#code);
    return unlessBroken(() => this.#database.prepare(query).get(folder, state) !== undefined) ?? false;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #read(folder: string, state: string): RunEvaluation | null {
    const query = 'SELECT evaluation FROM evaluations WHERE folder = ? AND state = ?';
    return unlessBroken(() => {
      const row = this.#database.prepare(query).get(folder, state);
      return row === undefined ? null : RunEvaluation.parse(JSON.parse(String(row.evaluation)));
    });
  }

  #write(folder: string, state: string, evaluation: RunEvaluation): void {
    const command = 'INSERT OR REPLACE INTO evaluations (folder, state, evaluation) VALUES (?, ?, ?)';
    unlessBroken(() => this.#database.prepare(command).run(folder, state, JSON.stringify(evaluation)));
  }
}

const table =
  'CREATE TABLE IF NOT EXISTS evaluations (folder TEXT PRIMARY KEY, state TEXT, evaluation TEXT) STRICT;';

/** Sizes and times of the files from which a run's evaluation is made, and the version of the code. */
function stateOf(folder: string, code: string): string {
  const files = evidence.map((name) => {
    try {
      const { size, mtimeNs, ino } = statSync(join(folder, name), { bigint: true });
      return `${size} ${mtimeNs} ${ino}`;
    } catch (error) {
      if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return '–';
      throw error;
    }
  });
  return [code, ...files].join('\n');
}

/** SHA-256 over the evaluating modules, so that results of other code are dropped. */
function codeVersion(): string {
  const hash = createHash('sha256');
  const modules = ['evaluation', 'statistics', 'schema', 'store'];
  for (const module of modules) {
    const folder = join(import.meta.dirname, '..', module);
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()) {
      if (/(?<!\.test)\.[jt]s$/.test(name)) hash.update(name).update(readFileSync(join(folder, name)));
    }
  }
  return hash.digest('hex');
}
