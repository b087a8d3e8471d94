import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** The credentials of the fake, as environment variables for its client. */
export const s3Variables = (url: string): Record<string, string> => ({
  ...{ AWS_ENDPOINT_URL_S3: url, AWS_ACCESS_KEY_ID: 'an-access-key', AWS_REGION: 'us-east-1' },
  AWS_SECRET_ACCESS_KEY: 'the-secret-of-the-store',
});

interface Asked {
  method: string;
  key: string;
}

/**
 * The part of S3 that mlab uses, over HTTP, in memory: objects by key, lists, conditional writes. Signatures are not
 * checked.
 */
export class FakeS3 implements AsyncDisposable {
  readonly objects = new Map<string, Buffer>();
  readonly asked: Asked[] = [];
  /**
   * Faults of the next writes: a status to fail with, or `cut`: the write succeeds, and the connection breaks before
   * the answer.
   */
  readonly failures: (number | 'cut')[] = [];
  /** As old stores do. */
  ignoresConditions = false;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async start(): Promise<FakeS3> {
    const fake = new FakeS3();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Keys that were written since the last call. */
  written(): string[] {
    return this.asked.splice(0).flatMap(({ method, key }) => (method === 'PUT' ? [key] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '', this.url);
    const [, bucket = '', key = ''] = /^\/([^/]+)\/?(.*)$/.exec(decodeURIComponent(url.pathname)) ?? [];
    const content = await buffer(request);
    const there = this.objects.get(key);
    this.asked.push({ method, key });
    if (bucket !== 'bucket') fail(response, 404, 'NoSuchBucket');
    else if (url.searchParams.get('list-type') === '2')
      response.end(this.#listed(url.searchParams.get('prefix') ?? ''));
    else if (method === 'PUT') this.#put(key, there, { headers, content }, response);
    else if (there === undefined) fail(response, 404, 'NoSuchKey');
    else {
      response.writeHead(200, { etag: tagOf(there), 'content-length': there.length });
      response.end(method === 'HEAD' ? undefined : there);
    }
  }

  #put(
    key: string,
    there: Buffer | undefined,
    { headers, content }: { headers: IncomingMessage['headers']; content: Buffer },
    response: ServerResponse,
  ): void {
    const failure = this.failures.shift();
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
    const isRefused =
      (ifNoneMatch === '*' && there !== undefined) ||
      (ifMatch !== undefined && (there === undefined || tagOf(there) !== ifMatch));
    if (typeof failure === 'number') fail(response, failure, 'Failed');
    else if (isRefused && !this.ignoresConditions) fail(response, 412, 'PreconditionFailed');
    else {
      const isChunked = headers['content-encoding']?.includes('aws-chunked');
      const stored = isChunked ? unchunked(content) : content;
      this.objects.set(key, stored);
      if (failure === 'cut') response.destroy();
      else response.writeHead(200, { etag: tagOf(stored) }).end();
    }
  }

  #listed(prefix: string): string {
    const found = [...this.objects].filter(([key]) => key.startsWith(prefix));
    const entries = found.map(
      ([key, content]) => `<Contents><Key>${key}</Key><ETag>${tagOf(content)}</ETag></Contents>`,
    );
    return `<ListBucketResult><IsTruncated>false</IsTruncated>${entries.join('')}</ListBucketResult>`;
  }
}

function tagOf(content: Buffer): string {
  return `"${createHash('md5').update(content).digest('hex')}"`;
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<Error><Code>${code}</Code><Message>it said ${code}</Message></Error>`);
}

/** A body that is sent in chunks, each after its length, with checksums after the last one. */
function unchunked(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at);
    const length = Number.parseInt(body.toString('latin1', at, end), 16);
    if (!(length > 0)) return Buffer.concat(pieces);
    pieces.push(body.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}
