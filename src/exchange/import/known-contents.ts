import { sha256 } from '../../lib/hash.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { filesBelow } from '../original/folder-files.ts';
import type { OriginalFile, OriginalRun, OriginalStep } from '../original/original-run.ts';
import { yieldToSignals } from '../yield-to-signals.ts';

/** Limits for one import: the sizes and hashes to look for, and the bytes to keep. */
const mostWanted = 500_000;
const maxFoundBytes = 64 * 2 ** 20;
const mostOfFile = 16 * 2 ** 20;
const maxFilesOffered = 10_000;
/** For texts that grow by appending, in one run: each append makes a new text. */
const maxAppendedBytes = 64 * 2 ** 20;

/**
 * Contents that listings name by size and hash, as far as they are found anywhere. A content counts if its hash
 * matches.
 */
export class KnownContents {
  /** By size: few contents have a wanted size, and only those are hashed. */
  readonly #wanted = new Map<number, Set<string>>();
  readonly #found = new Map<string, Buffer>();
  #wantedCount = 0;
  #foundBytes = 0;

  /** Whether anything is looked for. */
  get isWanting(): boolean {
    return this.#wantedCount > 0;
  }

  /** Adds all files of a listing to those looked for. */
  want(files: Iterable<OriginalFile>): void {
    for (const { bytes, hash, source } of files) {
      if (source !== null || this.#wantedCount >= mostWanted) continue;
      const hashes = this.#wanted.get(bytes) ?? new Set();
      if (!hashes.has(short(hash))) this.#wantedCount += 1;
      // A copy: a slice would keep the whole list in memory.
      hashes.add(Buffer.from(short(hash), 'latin1').toString('latin1'));
      this.#wanted.set(bytes, hashes);
    }
  }

  find({ bytes, hash }: OriginalFile): Buffer | null {
    const content = this.#found.get(short(hash));
    return content?.length === bytes ? content : null;
  }

  offer(content: Buffer): void {
    const hashes = this.#wanted.get(content.length);
    if (hashes === undefined) return;
    const hash = short(sha256(content));
    if (!hashes.has(hash) || this.#found.has(hash)) return;
    if (this.#foundBytes + content.length > maxFoundBytes) return;
    this.#foundBytes += content.length;
    this.#found.set(hash, content);
  }

  /** A text may have been on disk with either line ending, with or without a final one, in UTF-8 or Latin-1. */
  offerText(text: string): void {
    const plain = text.replaceAll('\r\n', '\n');
    const trimmed = plain.endsWith('\n') ? plain.slice(0, -1) : plain;
    for (const unix of [trimmed, `${trimmed}\n`]) {
      for (const variant of [unix, unix.replaceAll('\n', '\r\n')]) {
        this.offer(Buffer.from(variant, 'utf8'));
        if (/[\x80-\xff]/.test(variant)) this.offer(Buffer.from(variant, 'latin1'));
      }
    }
  }

  /** Every file below a folder. */
  async offerFolder(folder: string, signal: AbortSignal): Promise<void> {
    const { files } = await filesBelow(folder, maxFilesOffered, signal);
    for (const { source } of files) {
      await yieldToSignals(signal);
      const content = contentOf(source);
      if (content === null) continue;
      this.offer(content);
      this.offerText(content.toString('utf8'));
    }
  }

  /** Every text of a run that may have been a file's, and the results of appending them. */
  async offerRun({ contents, steps, innerSteps }: OriginalRun, signal: AbortSignal): Promise<void> {
    for (const source of contents) {
      await yieldToSignals(signal);
      const content = contentOf(source);
      if (content !== null) this.offer(content);
    }
    for (const step of [...steps, ...innerSteps]) {
      await yieldToSignals(signal);
      this.#offerStep(step);
    }
    const files = new Map<string, string>();
    let appended = 0;
    for (const { action, observation } of innerSteps) {
      const { file_name, content } = textArguments(action.args);
      if (file_name === undefined) continue;
      if (action.name === 'Read File') files.set(file_name, observation);
      if (content === undefined) continue;
      if (action.name === 'Write File') files.set(file_name, content);
      if (action.name === 'Append File' && appended < maxAppendedBytes) {
        await yieldToSignals(signal);
        const whole = (files.get(file_name) ?? '') + content;
        appended += whole.length;
        files.set(file_name, whole);
        this.offerText(whole);
      }
    }
  }

  #offerStep({ action, observation }: OriginalStep): void {
    this.offerText(observation);
    for (const text of Object.values(textArguments(action.args))) this.offerText(text);
  }
}

function textArguments(args: OriginalStep['action']['args']): Record<string, string> {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return {};
  return Object.fromEntries(
    Object.entries(args).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** Null if it can't be read. */
function contentOf(source: string): Buffer | null {
  try {
    return readRegularFile(source, mostOfFile);
  } catch {
    return null;
  }
}

function short(hash: string): string {
  return hash.slice(0, 16);
}
