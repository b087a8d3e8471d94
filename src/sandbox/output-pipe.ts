import { execFile } from 'node:child_process';
import { chmodSync, closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Where a process prints to. */
export interface OutputPipe {
  /** Its name on the host. */
  readonly path: string;
  readonly reader: Socket;
  /** Passed to the process; then closed here, so that the end of the last writer is the end of the output. */
  readonly writeEnd: number;
  /** Once; again it does nothing. */
  closeWriteEnd(): void;
}

/**
 * Makes pipes for processes to print to. Node's own are socket pairs, which `echo … > /dev/stderr` can't open; these
 * are named pipes in a folder that only this user enters, open to whoever processes run as. They are made several at a time and used again.
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
    // A name goes back only after everyone has let go of it: a reader must not meet another command's output.
    pipe.reader.once('end', () => pipe.reader.once('close', () => this.#free.push(path)));
    return pipe;
  }

  async #make(): Promise<void> {
    const paths = Array.from({ length: 4 }, () => join(this.#folder, `output-${this.#made++}`));
    await promisify(execFile)('mkfifo', ['-m', '666', ...paths], { env: { PATH: '/usr/bin:/bin' } });
    this.#free.push(...paths);
  }
}

/** Both ends of a named pipe of this user's. */
export function openPipe(path: string): OutputPipe {
  // Who printed to it before could change its permissions, where it is the same user.
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

/** After the read end, which is closed when this one can't be had. */
function openWriteEnd(path: string, readEnd: number): number {
  try {
    return openSync(path, constants.O_WRONLY);
  } catch (error) {
    closeSync(readEnd);
    throw error;
  }
}
