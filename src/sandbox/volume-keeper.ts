import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const script = join(import.meta.dirname, '../../python/volume_keeper.py');

/** For programs of the system. */
export const programs = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Of the file systems, as in the script: bytes of a block, bytes for each inode, and for its entry in the tables. */
export const blockBytes = 4096;
export const inodeEvery = 4096;
export const inodeBytes = 256;

const Answer = z.object({ id: z.number(), fault: z.string().nullable(), path: z.string().nullable() });
type Answer = z.infer<typeof Answer>;

/** The mounts of this host, or a part of them, as a namespace that a program can enter. */
export interface MountView extends Disposable {
  readonly path: string;
}

/** A process that mounts images and, whatever happens to the harness, unmounts them. */
export class VolumeKeeper {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Omit<Answer, 'id'>) => void>();
  #count = 0;
  #isOver = false;

  /** @param python the path of a Python 3 */
  constructor(python: string) {
    // Python's own modules alone, whatever is installed beside them.
    this.#child = spawn(python, ['-I', '-S', '-B', script], {
      ...{ env: programs, cwd: '/', detached: true, stdio: ['pipe', 'pipe', 'ignore'] },
    });
    const end = ({ message }: { message: string }) => {
      this.#isOver = true;
      for (const id of [...this.#waiting.keys()]) this.#answer({ ...{ id, path: null }, fault: message });
    };
    this.#child.once('error', end);
    this.#child.once('exit', () => end({ message: 'the process that mounts images was ended' }));
    this.#child.stdin?.on('error', () => {});
    if (this.#child.stdout === null) return;
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#answer(Answer.parse(JSON.parse(line)));
    });
    this.#letGo();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Mounts a new file system. Resolves with the volume's number, or with what went wrong.
   * @param image the process makes this file and removes it, so that none is left whenever the harness dies
   * @param bytes a multiple of the size of a block
   */
  async mount(image: string, place: string, bytes: number): Promise<{ id: number } | { fault: string }> {
    const id = ++this.#count;
    const { fault } = await this.#ask(id, { do: 'mount', image, place, bytes });
    return fault === null ? { id } : { fault };
  }

  async unmount(id: number): Promise<void> {
    await this.#ask(id, { do: 'unmount' });
  }

  /**
   * The path of a mount namespace that has none of the volumes, except those to keep; null if none can be made. It is
   * there until its disposal.
   * @param keep their places
   */
  async view(keep: readonly string[]): Promise<MountView | null> {
    const id = ++this.#count;
    const { path } = await this.#ask(id, { do: 'view', keep });
    return path === null ? null : { path, [Symbol.dispose]: () => void this.#ask(id, { do: 'close' }) };
  }

  #ask(id: number, request: object): Promise<Omit<Answer, 'id'>> {
    if (this.#isOver)
      return Promise.resolve({ fault: 'the process that mounts images has ended', path: null });
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.ref();
      this.#child.stdin?.write(`${JSON.stringify({ id, ...request })}\n`);
    });
  }

  #answer({ id, ...answer }: Answer): void {
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#letGo();
  }

  /** It waits for the harness, not the other way round. */
  #letGo(): void {
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout]) {
      if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
    }
  }
}
