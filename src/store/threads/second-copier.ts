import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import { CallingThread } from '../../lib/threads/calling-thread.ts';
import type { FileToCopy } from '../restored-file.ts';
import type { FileNode } from '../workspace-tree.ts';

const module = join(import.meta.dirname, `copy-thread${extname(import.meta.filename)}`);
/** As many as are copied between two turns of the event loop. */
const mostWaiting = 3;

export interface FilesToCopy {
  /** Paths of two folders, through descriptors of this process where there are such paths. */
  from: string;
  to: string;
  files: readonly FileToCopy[];
}

/** Copies files in a thread, while the calling thread copies others: a large fork takes little more than half the time. */
class SecondCopier {
  readonly #thread = new CallingThread<FilesToCopy, (FileNode | null)[]>(module, 'copies files');
  #isReady = false;

  /** Whether it can begin soon. It starts with the first question. */
  get isFree(): boolean {
    if (!this.#thread.isRunning && availableParallelism() > 1) this.#start();
    return this.#isReady && this.#thread.waiting < mostWaiting;
  }

  /** Null for each file that has changed. */
  copy(files: FilesToCopy): Promise<(FileNode | null)[]> {
    return this.#thread.call(files);
  }

  #start(): void {
    this.#isReady = false;
    this.#thread.call({ from: '/', to: '/', files: [] }).then(
      () => {
        this.#isReady = true;
      },
      () => {},
    );
  }
}

/** That of this thread. */
export const secondCopier = new SecondCopier();
