import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import type { ObjectId } from '../schema/index.ts';
import { idOf, type ObjectStore, storedForm } from './object-store.ts';
import { endOfPack, type PackedContent } from './packs.ts';

/** New contents beyond so many share a pack. */
const mostAlone = 256;
const bytesAtOnce = 2 ** 20;

/** The small contents of one snapshot. `finish` makes them all part of the store. */
export class ObjectBatch implements Disposable {
  readonly #objects: ObjectStore;
  #alone = 0;
  #pack: PackWriter | null = null;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /** As `ObjectStore.putBytes`. */
  putBytes(content: Uint8Array): ObjectId {
    const id = idOf(content);
    if (this.#pack?.has(id) === true || this.#objects.has(id)) return id;
    // A pack has no empty contents, since an object of no bytes counts as lost.
    if (this.#alone < mostAlone || content.length === 0) {
      this.#alone += 1;
      return this.#objects.putBytes(content);
    }
    this.#pack ??= new PackWriter(this.#objects.temporaryPath());
    this.#pack.add(id, content);
    return id;
  }

  finish(): void {
    if (this.#pack === null) return;
    this.#pack.end();
    this.#objects.placePack(this.#pack.path, this.#pack.ids);
    this.#pack = null;
  }

  [Symbol.dispose](): void {
    this.#pack?.[Symbol.dispose]();
  }
}

class PackWriter implements Disposable {
  readonly path: string;
  readonly #contents = new Map<ObjectId, PackedContent>();
  readonly #file: number;
  #isOpen = true;
  #buffered: Uint8Array[] = [];
  #bufferedBytes = 0;
  #bytes = 0;

  constructor(path: string) {
    this.path = path;
    this.#file = openSync(path, 'wx', 0o444);
  }

  has(id: ObjectId): boolean {
    return this.#contents.has(id);
  }

  get ids(): Iterable<ObjectId> {
    return this.#contents.keys();
  }

  add(id: ObjectId, content: Uint8Array): void {
    const { stored, compressed } = storedForm(content);
    this.#contents.set(id, { id, start: this.#bytes, bytes: stored.length, compressed });
    this.#append(stored);
    if (this.#bufferedBytes >= bytesAtOnce) this.#flush();
  }

  end(): void {
    this.#append(endOfPack([...this.#contents.values()]));
    this.#flush();
    this.#close();
  }

  /** Removes a pack that did not become part of the store. */
  [Symbol.dispose](): void {
    this.#close();
    rmSync(this.path, { force: true });
  }

  #append(bytes: Uint8Array): void {
    this.#buffered.push(bytes);
    this.#bufferedBytes += bytes.length;
    this.#bytes += bytes.length;
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#buffered);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.#buffered = [];
    this.#bufferedBytes = 0;
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }
}
