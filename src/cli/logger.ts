import { once } from 'node:events';
import { createWriteStream, openSync } from 'node:fs';
import { messageOf, UserError } from '../lib/errors.ts';
import { plainLine } from '../lib/plain-line.ts';
import { terminalJson } from './table.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The fields of a line besides its time, level and event. Flat, so that a log is a table; undefined is left out. */
export type LogFacts = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Lines for programs that watch many runs. Never contains keys, or text written by an agent or its scripts. */
export interface Logger extends AsyncDisposable {
  /** Whether lines go to the same place as a person's progress. */
  readonly isOnStandardError: boolean;
  write(level: LogLevel, event: string, facts: LogFacts): void;
}

export const silentLogger: Logger = {
  isOnStandardError: false,
  write: () => {},
  [Symbol.asyncDispose]: async () => {},
};

/**
 * @param level from --log-level
 * @param setting MLAB_LOG: a level, or `level:file`; the flag's level wins
 */
export function openLogger(level: LogLevel | undefined, setting: string | undefined): Logger {
  const [settingLevel = '', ...rest] = setting?.split(':') ?? [];
  const file = rest.join(':');
  const known = logLevels.find((name) => name === settingLevel);
  if (known === undefined && setting !== undefined && setting !== '') {
    const hint = `Use ${logLevels.join(', ')}, or a level and a file: MLAB_LOG=info:runs.log`;
    throw new UserError('bad_variable', `MLAB_LOG=${setting}: there is no such level.`, hint);
  }
  const least = level ?? known;
  if (least === undefined) return silentLogger;
  return file === '' ? new LineLogger(least, process.stderr) : new LineLogger(least, appended(file), file);
}

/** JSON lines of at least the requested level. */
class LineLogger implements Logger {
  readonly isOnStandardError: boolean;
  readonly #least: number;
  readonly #stream: NodeJS.WritableStream;
  #isBroken = false;

  constructor(least: LogLevel, stream: NodeJS.WritableStream, file?: string) {
    this.#least = logLevels.indexOf(least);
    this.#stream = stream;
    this.isOnStandardError = file === undefined;
    if (file === undefined) return;
    // A full disk ends the log, not the runs.
    stream.on('error', (error) => {
      this.#isBroken = true;
      process.stderr.write(`mlab: the log ${file} ends here: ${error.message}\n`);
    });
  }

  write(level: LogLevel, event: string, facts: LogFacts): void {
    if (logLevels.indexOf(level) < this.#least || this.#isBroken) return;
    const safe = Object.entries(facts).map(([name, value]) => [
      name,
      typeof value === 'string' ? plainLine(value, longestText) : value,
    ]);
    const line = {
      time: new Date().toISOString(),
      level,
      event,
      pid: process.pid,
      ...Object.fromEntries(safe),
    };
    this.#stream.write(`${terminalJson(JSON.stringify(line))}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isOnStandardError || this.#isBroken) return;
    this.#stream.end();
    // The listener above reports the error.
    await once(this.#stream, 'close').catch(() => {});
  }
}

const longestText = 500;

/** Several commands may write to one file, so each line is appended in one write. */
function appended(file: string): NodeJS.WritableStream {
  try {
    return createWriteStream(file, { fd: openSync(file, 'a') });
  } catch (error) {
    const hint = 'Name a file in a folder that you may write to: MLAB_LOG=info:runs.log';
    throw new UserError('bad_variable', `The log ${file} can't be opened: ${messageOf(error)}`, hint);
  }
}
