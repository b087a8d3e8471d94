import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import { writeFileAtomically } from '../../lib/atomic-file.ts';
import { hasCode, messageOf, UserError } from '../../lib/errors.ts';
import { sha256 } from '../../lib/hash.ts';
import { ObjectId } from '../../schema/index.ts';
import { locateObject, type RunFolder, readStored } from '../../store/index.ts';
import { Checkpoint, type CheckpointPart, hasSameFiles, partsOf } from './checkpoint.ts';
import { pathOfRunFile, readRunFile, runFiles, stampOf } from './run-files.ts';
import type { S3Store } from './s3-store.ts';

/** What the store contains of a run, and the tag of that version. */
export const Head = z.strictObject({ checkpoint: Checkpoint, tag: z.string() });
export type Head = z.infer<typeof Head>;

const objectKey = /^objects\/([0-9a-f]{2})\/([0-9a-f]{62})(\.zst)?$/;
/** The number of objects that are sent or fetched at the same time. */
const atOnce = 16;
/** A connection may break while a body is read, and the library does not retry that. */
const maxReads = 3;

export const headKey = (run: string): string => `runs/${run}.json`;

/**
 * The files of one run here, and their copy in a store. The copy is one document that refers to its contents by hash.
 * Only a process that saw its last version can replace it, so a former owner can't change it any more.
 */
export class RunCopy {
  readonly #store: S3Store;
  readonly #folder: RunFolder;
  #head: Head | null;
  /** The stamps and parts of the files that were sent last, so that unchanged files need not be read. */
  #sent = new Map<string, { stamp: string; parts: CheckpointPart[] }>();
  #keys: Set<string> | null = null;

  /** @param head the last version that was seen */
  constructor(store: S3Store, folder: RunFolder, head: Head | null = null) {
    this.#store = store;
    this.#folder = folder;
    this.#head = head;
  }

  get head(): Head | null {
    return this.#head;
  }

  /** Whether the files here are those of the last version that was seen. */
  get isSame(): boolean {
    return hasSameFiles(this.#files(), this.#head?.checkpoint ?? { files: {}, objects: [] });
  }

  /** Whether there are no files here. */
  get isEmpty(): boolean {
    return runFiles(this.#folder).size === 0;
  }

  /** Reads the current version in the store. */
  async look(): Promise<Head | null> {
    const found = await this.#store.read(headKey(this.#folder.id));
    this.#keys = null;
    this.#head = found === null ? null : { checkpoint: this.#parsed(found.text), tag: found.tag };
    return this.#head;
  }

  /**
   * Becomes the owner, with the next epoch, if the version that was seen is still the latest.
   * @param least epoch
   * @throws UserError `run_locked`
   */
  async claim(least = 1): Promise<number> {
    const { epoch = 0, files = {}, objects = [] } = this.#head?.checkpoint ?? {};
    const next = { epoch: Math.max(least, epoch + 1), claim: randomBytes(8).toString('hex') };
    const isOwner = await this.#publish({ v: 1, ...next, host: hostname(), files, objects });
    if (isOwner) return next.epoch;
    throw new UserError(
      'run_locked',
      `Another machine has started to work on the run ${this.#folder.id} in ${this.#store.address}.`,
      'Wait until it has finished.',
    );
  }

  /**
   * Sends what is new. Everything that a checkpoint refers to is sent before it.
   * @param objects that the run refers to, in any order; called after the files were read
   * @throws UserError `lease_lost`; the store's errors
   */
  async upload(objects: () => Iterable<ObjectId>): Promise<void> {
    if (this.#head === null) throw new Error('a run is claimed before it is uploaded');
    const { checkpoint } = this.#head;
    const { files, added, seen } = this.#files();
    if (hasSameFiles({ files, objects: [] }, checkpoint)) return;
    const keys = await this.#objectKeys();
    await inBatches(objects(), async (id) => {
      const plain = `objects/${id.slice(0, 2)}/${id.slice(2)}`;
      if (keys.has(plain) || keys.has(`${plain}.zst`)) return;
      const found = locateObject(this.#folder.objects.folder, id);
      if (found === null) return;
      const key = found.compressed ? `${plain}.zst` : plain;
      await this.#putOnce(key, () =>
        found.isPacked
          ? this.#store.put(key, readStored(found))
          : this.#store.putFile(key, found.path, found.bytes),
      );
      keys.add(key);
    });
    const list = partsOf(Buffer.from([...keys].join('\n')), checkpoint.objects);
    await inBatches([...added, ...(list.added === null ? [] : [list.added])], async (content) => {
      const key = partKey(sha256(content));
      await this.#putOnce(key, () => this.#store.put(key, content));
    });
    if (!(await this.#publish({ ...checkpoint, files, objects: list.parts }))) {
      throw new UserError(
        'lease_lost',
        `Another machine has taken over the run ${this.#folder.id} in ${this.#store.address}.`,
        'Nothing that was uploaded is lost: that machine resumes the run from there.',
      );
    }
    this.#sent = seen;
  }

  /** Updates the files here from the store, and checks them by their hashes. `run.json` is written last. */
  async download(signal: AbortSignal): Promise<void> {
    const files: Checkpoint['files'] = this.#head?.checkpoint.files ?? {};
    await inBatches(await this.#objectKeys(signal), async (key) => {
      signal.throwIfAborted();
      await this.#getObject(key, signal);
    });
    const here = this.#files().files;
    const { 'run.json': record, ...others } = files;
    for (const [name, parts] of Object.entries(others))
      if (!hasSameFiles(only(name, here[name]), only(name, parts))) await this.#getFile(name, parts, signal);
    for (const name of Object.keys(here))
      if (files[name] === undefined) rmSync(pathOfRunFile(this.#folder, name));
    if (record !== undefined) await this.#getFile('run.json', record, signal);
  }

  /** False if somebody else owns the run. */
  async #publish(checkpoint: Checkpoint): Promise<boolean> {
    const text = JSON.stringify(checkpoint);
    for (;;) {
      const tag = await this.#store.replace(headKey(this.#folder.id), text, this.#head?.tag ?? null);
      if (tag !== null) {
        this.#head = { checkpoint, tag };
        return true;
      }
      // It may have been this process, if the answer was lost.
      const found = await this.#store.read(headKey(this.#folder.id));
      if (found === null || this.#parsed(found.text).claim !== checkpoint.claim) return false;
      this.#head = { checkpoint: this.#parsed(found.text), tag: found.tag };
    }
  }

  #files() {
    const files: Checkpoint['files'] = {};
    const added: Buffer[] = [];
    const seen = new Map<string, { stamp: string; parts: CheckpointPart[] }>();
    for (const [name, path] of runFiles(this.#folder)) {
      const stamp = stampOf(path);
      const sent = this.#sent.get(name);
      const content = sent?.stamp === stamp ? null : readRunFile(path);
      const known = this.#head?.checkpoint.files[name] ?? [];
      const divided = content === null ? { parts: sent?.parts ?? [], added: null } : partsOf(content, known);
      files[name] = divided.parts;
      seen.set(name, { stamp, parts: divided.parts });
      if (divided.added !== null) added.push(divided.added);
    }
    return { files, objects: [], added, seen };
  }

  /** The keys of all objects that the run refers to, in the order in which they came. */
  async #objectKeys(signal?: AbortSignal): Promise<Set<string>> {
    if (this.#keys !== null) return this.#keys;
    const text = await this.#content(this.#head?.checkpoint.objects ?? [], signal);
    this.#keys = new Set(text.length === 0 ? [] : text.toString('utf8').split('\n'));
    return this.#keys;
  }

  async #putOnce(key: string, put: () => Promise<void>): Promise<void> {
    if (!(await this.#store.has(key))) await put();
  }

  async #getObject(key: string, signal: AbortSignal): Promise<void> {
    const [, first, rest, suffix] = objectKey.exec(key) ?? [];
    const id = ObjectId.parse(`${first}${rest}`);
    if (this.#folder.objects.has(id)) return;
    await again(signal, async () =>
      this.#folder.objects.putStored(id, suffix !== undefined, await this.#store.open(key, signal), signal),
    );
  }

  async #getFile(name: string, parts: readonly CheckpointPart[], signal: AbortSignal): Promise<void> {
    writeFileAtomically(pathOfRunFile(this.#folder, name), await this.#content(parts, signal));
  }

  async #content(parts: readonly CheckpointPart[], signal?: AbortSignal): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (const { sha256: hash } of parts)
      pieces.push(await again(signal, async () => await this.#part(hash, signal)));
    return Buffer.concat(pieces);
  }

  async #part(hash: string, signal?: AbortSignal): Promise<Buffer> {
    const content = Buffer.concat(await (await this.#store.open(partKey(hash), signal)).toArray({ signal }));
    if (sha256(content) === hash) return content;
    throw this.#broken(`${partKey(hash)} does not have the hash in its name`);
  }

  #parsed(text: string): Checkpoint {
    try {
      return Checkpoint.parse(JSON.parse(text));
    } catch (error) {
      throw this.#broken(`${headKey(this.#folder.id)}: ${messageOf(error)}`);
    }
  }

  #broken(what: string): UserError {
    return new UserError(
      'artifact_broken',
      `${this.#store.address} contains something that mlab did not write: ${what}.`,
      'Restore the bucket from a backup, or run the experiment under another name.',
    );
  }
}

const partKey = (hash: string): string => `parts/${hash}`;

function only(name: string, parts: CheckpointPart[] | undefined) {
  return { files: parts === undefined ? {} : { [name]: parts }, objects: [] };
}

/** Works on a few at a time; nothing continues after the first failure is thrown. */
async function inBatches<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const all = [...items];
  for (let at = 0; at < all.length; at += atOnce) {
    const ended = await Promise.allSettled(all.slice(at, at + atOnce).map(work));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  }
}

async function again<Value>(
  signal: AbortSignal | undefined,
  read: () => Promise<Value>,
  left = maxReads - 1,
): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (left === 0 || UserError.isInstance(error) || hasCode(error, 'ENOSPC')) throw error;
    signal?.throwIfAborted();
    return await again(signal, read, left - 1);
  }
}
