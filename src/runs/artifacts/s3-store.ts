import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Readable } from 'node:stream';
import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import { errorName, messageOf, UserError } from '../../lib/errors.ts';
import { sentence } from '../../lib/sentence.ts';

/** A document, and the tag of this version of it. */
export interface StoredDocument {
  text: string;
  tag: string;
}

/** The most concurrent requests of all runs of this process together. */
const maxRequests = 32;
/** For one request: this waits some minutes for a store that does not answer. */
const maxAttempts = 10;
/** Larger files are streamed, and can't be retried. */
const inMemoryBytes = 2 ** 24;

/**
 * A folder of a bucket. The library finds credentials, region and address in the environment and in AWS' files. Must be
 * closed.
 */
export class S3Store implements Disposable {
  readonly address: string;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #client: S3Client;
  readonly #limit = pLimit(maxRequests);

  /** @param address `s3://BUCKET/FOLDER` */
  constructor(address: string, variables: Readonly<Record<string, string | undefined>>) {
    const { host, pathname } = new URL(address);
    this.address = address.replace(/\/$/, '');
    this.#bucket = host;
    this.#prefix = pathname.replace(/^\/|\/$/g, '');
    // Other vendors' stores seldom use the bucket as a host name, and know no regions.
    const isOther = (variables.AWS_ENDPOINT_URL_S3 ?? variables.AWS_ENDPOINT_URL) !== undefined;
    const region =
      variables.AWS_REGION ?? variables.AWS_DEFAULT_REGION ?? (isOther ? 'us-east-1' : undefined);
    this.#client = new S3Client({
      ...{ forcePathStyle: isOther, maxAttempts: maxAttempts },
      ...(region === undefined ? {} : { region }),
      requestHandler: { connectionTimeout: 10_000, socketTimeout: 60_000 },
    });
  }

  /** The tag of each document whose key has this prefix. */
  async tags(prefix: string): Promise<Map<string, string>> {
    return await this.#do(async () => {
      const found = new Map<string, string>();
      const asked = { Bucket: this.#bucket, Prefix: this.#keyOf(prefix) };
      for await (const { Contents = [] } of paginateListObjectsV2({ client: this.#client }, asked))
        for (const { Key, ETag } of Contents)
          if (Key !== undefined && ETag !== undefined) found.set(Key.slice(this.#keyOf('').length), ETag);
      return found;
    });
  }

  /** Null if there is none. */
  async read(key: string): Promise<StoredDocument | null> {
    return await this.#unless([404], async () => {
      const { Body, ETag = '' } = await this.#client.send(new GetObjectCommand(this.#place(key)));
      return { text: (await Body?.transformToString()) ?? '', tag: ETag };
    });
  }

  /** A stream of the bytes of an object. */
  async open(key: string, signal?: AbortSignal): Promise<Readable> {
    const body = await this.#unless([404], async () => {
      const { Body } = await this.#client.send(new GetObjectCommand(this.#place(key)), {
        ...(signal === undefined ? {} : { abortSignal: signal }),
      });
      return Body instanceof Readable ? Body : null;
    });
    if (body !== null) return body;
    throw new UserError(
      'artifact_missing',
      `${this.address} has no ${key}, which a run refers to.`,
      'Restore the bucket from a backup, or start the run over: mlab run with --incomplete restart.',
    );
  }

  async has(key: string): Promise<boolean> {
    const command = new HeadObjectCommand(this.#place(key));
    return (await this.#unless([404], () => this.#client.send(command))) !== null;
  }

  async put(key: string, content: Uint8Array): Promise<void> {
    await this.#do(() => this.#client.send(new PutObjectCommand({ ...this.#place(key), Body: content })));
  }

  /** @param bytes its size; the file does not change */
  async putFile(key: string, path: string, bytes: number): Promise<void> {
    if (bytes <= inMemoryBytes) return await this.put(key, await readFile(path));
    const body = { ...this.#place(key), Body: createReadStream(path), ContentLength: bytes };
    await this.#do(() => this.#client.send(new PutObjectCommand(body)));
  }

  /**
   * Replaces a document if this is still its tag (null: if it does not exist).
   * @returns its new tag; null if somebody else has replaced it
   */
  async replace(key: string, text: string, tag: string | null): Promise<string | null> {
    const condition = tag === null ? { IfNoneMatch: '*' } : { IfMatch: tag };
    const command = new PutObjectCommand({ ...this.#place(key), Body: text, ...condition });
    // AWS may refuse one of two concurrent requests as a conflict.
    return await this.#unless([404, 409, 412], async () => (await this.#client.send(command)).ETag ?? '');
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }

  #place(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#keyOf(key) };
  }

  #keyOf(key: string): string {
    return this.#prefix === '' ? key : `${this.#prefix}/${key}`;
  }

  async #do<Value>(request: () => Promise<Value>): Promise<Value> {
    try {
      return await this.#limit(request);
    } catch (error) {
      throw this.#trouble(error);
    }
  }

  /** Null for an answer with one of these status codes. */
  async #unless<Value>(codes: readonly number[], request: () => Promise<Value>): Promise<Value | null> {
    try {
      return await this.#limit(request);
    } catch (error) {
      const isExpected =
        error instanceof S3ServiceException &&
        error.name !== 'NoSuchBucket' &&
        codes.includes(error.$metadata.httpStatusCode ?? 0);
      if (isExpected) return null;
      throw this.#trouble(error);
    }
  }

  /** The library's errors contain requests, so they are not passed on. */
  #trouble(error: unknown): unknown {
    const name = errorName(error);
    if (name === 'AbortError') return error;
    const message = sentence(messageOf(error));
    return new UserError(
      'no_artifact_store',
      `${this.address} can't be used from ${hostname()}: ${name === 'Error' ? '' : `${name}: `}${message}`,
      'Check the bucket, and the environment variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, for stores other than AWS, AWS_ENDPOINT_URL_S3.',
    );
  }
}
