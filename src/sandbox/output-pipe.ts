import { execFile } from 'node:child_process';
import { chmodSync, closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A pipe for a process's output. */
export interface OutputPipe {
  /** Its name on the host. */
  readonly path: string;
  readonly reader: Socket;
  /** Passed to the process, then closed here, so that the output ends with its last writer. */
  readonly writeEnd: number;
  /** Once; a second call does nothing. */
  closeWriteEnd(): void;
}

/**
 * Makes pipes for the output of processes. Node's own are socket pairs, which `echo … > /dev/stderr` can't open; these
 * are named pipes in a folder that only this user can enter, open to the users of processes. They are made several at a
 * time and reused.
 */
export class OutputPipes {
  readonly #folder: string;
  readonly #free: string[] = [];
  #made = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async open(): Promise<OutputPipe> {
    if (this.#free.length === 0) await this.#make();
    const path = this.#free.pop();
    if (path === undefined) return this.open();
    const pipe = openPipe(path);
    // A name is reused only after everyone has closed it: a reader must not get another command's output.
    pipe.reader.once('end', () => pipe.reader.once('close', () => this.#free.push(path)));
    return pipe;
  }

  async #make(): Promise<void> {
    const paths = Array.from({ length: 4 }, () => join(this.#folder, `output-${this.#made++}`));
    await promisify(execFile)('mkfifo', ['-m', '666', ...paths], { env: { PATH: '/usr/bin:/bin' } });
    this.#free.push(...paths);
  }
}

/** Both ends of a named pipe of this user. */
export function openPipe(path: string): OutputPipe {
  // A process of the same user could have changed its permissions.
  chmodSync(path, 0o666);
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writeEnd = openWriteEnd(path, readEnd);
  const reader = new Socket({ fd: readEnd, readable: true, writable: false });
  let isOpen = true;
  const closeWriteEnd = () => {
    if (isOpen) closeSync(writeEnd);
    isOpen = false;
  };
  return { path, reader, writeEnd, closeWriteEnd };
}

/** Called after the read end was opened, which is closed if this one can't be opened. */
function openWriteEnd(path: string, readEnd: number): number {
  try {
    return openSync(path, constants.O_WRONLY);
  } catch (error) {
    closeSync(readEnd);
    throw error;
  }
}
