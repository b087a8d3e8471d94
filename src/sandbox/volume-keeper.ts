import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { shellWord } from '../lib/shell-word.ts';

export const programs = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/** Bytes of an image for each inode, and for its entry in the tables. */
export const inodeEvery = 4096;
export const inodeBytes = 256;

const makeFileSystem = `mkfs.ext4 -q -F -b 4096 -i ${inodeEvery} -I ${inodeBytes} -m 0 -O ^has_journal,^resize_inode -E lazy_itable_init=1,nodiscard`;
const mount = 'mount -t ext4 -o loop,nosuid,nodev,noatime,nobarrier,noinit_itable';

/**
 * Executes lines until its input ends, as it also does when the harness dies; then it undoes what is still mounted. The
 * numbered variables hold the places.
 */
const script = `
set -f
trap '' INT TERM HUP
count=0
while IFS= read -r line; do eval "$line"; done
wait
while [ $count -gt 0 ]; do
  eval "place=\\\${place_$count} image=\\\${image_$count}"
  [ -z "$place" ] || umount -l "$place"
  [ -z "$image" ] || rm -f "$image"
  count=$((count - 1))
done 2> /dev/null
`;

/** A process that mounts images and, whatever happens to the harness, unmounts them. */
export class VolumeKeeper {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (fault: string | null) => void>();
  #count = 0;
  #isOver = false;

  constructor() {
    this.#child = spawn('sh', ['-c', script, 'mlab-workspaces'], {
      ...{ env: programs, cwd: '/', detached: true, stdio: ['pipe', 'pipe', 'ignore'] },
    });
    const end = ({ message }: { message: string }) => {
      this.#isOver = true;
      for (const id of [...this.#waiting.keys()]) this.#answer(id, message);
    };
    this.#child.once('error', end);
    this.#child.once('exit', () => end({ message: 'the process that mounts images was ended' }));
    this.#child.stdin?.on('error', () => {});
    if (this.#child.stdout === null) return;
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const [id = '', ...fault] = line.split(' ');
      this.#answer(Number(id), fault.length === 0 ? null : fault.join(' '));
    });
    this.#letGo();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Makes an image and mounts it. Resolves with the volume's number, or with what went wrong.
   * @param image the process makes it itself: if it is told of it first, it can remove it whenever the harness dies
   */
  async mount(image: string, place: string, bytes: number): Promise<{ id: number } | { fault: string }> {
    const id = ++this.#count;
    const size = `${Math.ceil(bytes / 1024)}k`;
    const work = `${makeFileSystem} "$image_${id}" ${size} 2>&1 && ${mount} "$image_${id}" "$place_${id}" 2>&1`;
    const fault = await this.#ask(
      id,
      `count=${id} place_${id}=${shellWord(place)} image_${id}=${shellWord(image)}
(said=$(${work}) && echo ${id} || echo ${id} $said) &`,
    );
    return fault === null ? { id } : { fault };
  }

  async unmount(id: number): Promise<void> {
    await this.#ask(id, `umount -l "$place_${id}"; place_${id}= image_${id}=; echo ${id}`);
  }

  #ask(id: number, lines: string): Promise<string | null> {
    if (this.#isOver) return Promise.resolve('the process that mounts images has ended');
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.ref();
      this.#child.stdin?.write(`${lines}\n`);
    });
  }

  #answer(id: number, fault: string | null): void {
    this.#waiting.get(id)?.(fault);
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
