import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/**
 * A database that can be deleted at any time. A file that is not a database is replaced; if no file can be written, the
 * database is in memory: nothing is lost with it.
 * @param create statements that make its tables if they are missing
 */
export function openCacheDatabase(path: string, create: string): DatabaseSync {
  try {
    return prepared(path, create);
  } catch {
    try {
      rmSync(path, { force: true });
      return prepared(path, create);
    } catch {
      return prepared(':memory:', create);
    }
  }
}

/** A full disk or a damaged file costs time, never a result. */
export function unlessBroken<Result>(use: () => Result): Result | null {
  try {
    return use();
  } catch {
    return null;
  }
}

function prepared(path: string, create: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; ${create}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
