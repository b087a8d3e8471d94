import { FolderHandle } from './folder-handle.ts';

/** A folder below a root, as the chain of names that leads to it. */
export interface FolderPlace {
  parent: FolderPlace | null;
  /** As `FolderHandle` gives names; the root's is not used. */
  name: string;
}

/** Folders beyond this number are opened again when needed. */
const maxOpen = 64;

/**
 * Opens folders at any depth below a root with few descriptors, and by names alone: no path is ever too long, and no
 * link is followed. Neighbouring folders cost one system call each.
 */
export class OpenFolders implements Disposable {
  readonly #root: FolderHandle;
  readonly #open = new Map<FolderPlace, FolderHandle>();

  /** @param root a trusted path */
  constructor(root: string) {
    this.#root = FolderHandle.open(root);
  }

  /**
   * A handle that is valid until the next call.
   * @throws whatever `FolderHandle.openFolder` throws
   */
  at(place: FolderPlace): FolderHandle {
    const way: FolderPlace[] = [];
    let above: FolderPlace = place;
    let handle = this.#known(above);
    while (handle === null && above.parent !== null) {
      way.push(above);
      above = above.parent;
      handle = this.#known(above);
    }
    let opened = handle ?? this.#root;
    for (const next of way.reverse()) {
      opened = opened.openFolder(next.name);
      this.#keep(next, opened);
    }
    return opened;
  }

  [Symbol.dispose](): void {
    for (const handle of this.#open.values()) handle[Symbol.dispose]();
    this.#root[Symbol.dispose]();
  }

  #known(place: FolderPlace): FolderHandle | null {
    return place.parent === null ? this.#root : (this.#open.get(place) ?? null);
  }

  /** Keeps the newest: the ancestors of the last folder. */
  #keep(place: FolderPlace, handle: FolderHandle): void {
    this.#open.set(place, handle);
    if (this.#open.size <= maxOpen) return;
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    this.#open.delete(oldest[0]);
    oldest[1][Symbol.dispose]();
  }
}
