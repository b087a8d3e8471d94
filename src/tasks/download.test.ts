import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FileServerOptions, startFileServer } from '../../test/fakes/file-server.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { sha256 } from '../lib/hash.ts';
import { download } from './download.ts';
import type { DownloadRequest } from './download-request.ts';

const content = randomBytes(300_000);
const timing = { attempts: 4, pauseMs: 5, pauseMaxMs: 20, stallMs: 30_000, retryAfterMaxMs: 3000 };

async function serve(options: Partial<FileServerOptions> = {}) {
  const server = await startFileServer({ content, etag: '"one"', ...options });
  const destination = join(temporaryFolder(), 'data.bin');
  const request: DownloadRequest = { url: `${server.url}/data.bin`, destination, timing };
  return { server, destination, request, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe('a download', () => {
  it('is complete, with its checksum, and leaves nothing else behind', async () => {
    await using it = await serve();
    const seen: number[] = [];
    const result = await download({ ...it.request, onProgress: (done) => seen.push(done) });
    expect(result).toBe(sha256(content));
    expect(readFileSync(it.destination).equals(content)).toBe(true);
    expect(seen.at(-1)).toBe(content.length);
    expect(existsSync(`${it.destination}.part`) || existsSync(`${it.destination}.part.json`)).toBe(false);
  });

  it('continues where the connection was cut', async () => {
    await using it = await serve({
      faults: [
        { kind: 'cut', afterBytes: 100_000 },
        { kind: 'cut', afterBytes: 50_000 },
      ],
    });
    const result = await download(it.request);
    expect(result).toBe(sha256(content));
    expect(it.server.requests.map((request) => request.range)).toEqual([
      null,
      'bytes=100000-',
      'bytes=150000-',
    ]);
  });

  it('continues in a later call after the first one was aborted', async () => {
    await using it = await serve({ faults: [{ kind: 'hang', afterBytes: 100_000 }] });
    const controller = new AbortController();
    const first = download({
      ...it.request,
      signal: controller.signal,
      onProgress: (done) => done >= 100_000 && controller.abort(new Error('stopped by hand')),
    });
    await expect(first).rejects.toThrow('stopped by hand');
    await download(it.request);
    expect(it.server.requests.at(-1)?.range).toBe('bytes=100000-');
    expect(readFileSync(it.destination).equals(content)).toBe(true);
  });

  it('starts over if the server ignores ranges', async () => {
    await using it = await serve({ ranges: false, faults: [{ kind: 'cut', afterBytes: 100_000 }] });
    expect(await download(it.request)).toBe(sha256(content));
  });

  it('starts over when the file changed between two connections', async () => {
    await using it = await serve({ faults: [{ kind: 'hang', afterBytes: 100_000 }] });
    const controller = new AbortController();
    const onProgress = (done: number) => done >= 100_000 && controller.abort(new Error('stopped'));
    await expect(download({ ...it.request, signal: controller.signal, onProgress })).rejects.toThrow();
    const other = randomBytes(content.length);
    it.server.options.content = other;
    it.server.options.etag = '"two"';
    expect(await download(it.request)).toBe(sha256(other));
  });

  it('does not continue without a validator or a checksum', async () => {
    await using it = await serve({ etag: null, faults: [{ kind: 'cut', afterBytes: 100_000 }] });
    expect(await download(it.request)).toBe(sha256(content));
    expect(it.server.requests.map((request) => request.range)).toEqual([null, null]);
  });

  it('downloads a file again when the resumed one has the wrong checksum', async () => {
    await using it = await serve({ etag: null });
    writeFileSync(`${it.destination}.part`, Buffer.alloc(1000));
    const origin = { url: it.request.url, validator: null, total: content.length };
    writeFileSync(`${it.destination}.part.json`, JSON.stringify(origin));
    const result = await download({ ...it.request, sha256: sha256(content) });
    expect(result).toBe(sha256(content));
    expect(it.server.requests.map((request) => request.range)).toEqual(['bytes=1000-', null]);
  });

  it('only renames a complete partial file, without downloading it again', async () => {
    await using it = await serve();
    writeFileSync(`${it.destination}.part`, content);
    const origin = { url: it.request.url, validator: null, total: content.length };
    writeFileSync(`${it.destination}.part.json`, JSON.stringify(origin));
    await download({ ...it.request, sha256: sha256(content) });
    expect(it.server.requests).toEqual([]);
  });

  it('waits and tries again after 429 and 5xx', async () => {
    await using it = await serve({
      faults: [
        { kind: 'status', status: 429, headers: { 'retry-after': '1' } },
        { kind: 'status', status: 500 },
        { kind: 'status', status: 503, headers: { 'retry-after': new Date().toUTCString() } },
      ],
    });
    const waits: [string, number][] = [];
    const onRetry = (why: string, pauseMs: number) => waits.push([why, pauseMs]);
    expect(await download({ ...it.request, onRetry })).toBe(sha256(content));
    expect(it.server.requests).toHaveLength(4);
    expect(waits.map(([why]) => /HTTP (\d+)/.exec(why)?.[1])).toEqual(['429', '500', '503']);
    expect(waits[0]?.[1]).toBe(1000);
  });

  it('does not wait longer than the maximum', async () => {
    await using it = await serve({
      faults: [{ kind: 'status', status: 429, headers: { 'retry-after': '86400' } }],
    });
    await expect(download(it.request)).rejects.toMatchObject({ code: 'server_error' });
    expect(it.server.requests).toHaveLength(1);
  });

  it('gives up after several failures without a new byte', async () => {
    await using it = await serve({ faults: Array(9).fill({ kind: 'status', status: 502 }) });
    await expect(download(it.request)).rejects.toMatchObject({ code: 'server_error' });
    expect(it.server.requests).toHaveLength(timing.attempts);
  });

  it('drops a connection that has gone silent', async () => {
    await using it = await serve({ faults: [{ kind: 'hang', afterBytes: 1000 }] });
    expect(await download({ ...it.request, timing: { ...timing, stallMs: 300 } })).toBe(sha256(content));
    expect(it.server.requests[1]?.range).toBe('bytes=1000-');
  });

  it.each([
    [403, 'no_access'],
    [404, 'not_found'],
  ])('says at once what HTTP %i means', async (status, code) => {
    await using it = await serve({ faults: [{ kind: 'status', status }] });
    await expect(download(it.request)).rejects.toMatchObject({ code });
    expect(it.server.requests).toHaveLength(1);
  });

  it('refuses a web page instead of a file', async () => {
    const page = Buffer.from('\n<!DOCTYPE html><html><body>Please log in</body></html>');
    await using it = await serve({ content: page, contentType: 'text/html' });
    await expect(download(it.request)).rejects.toMatchObject({ code: 'html_page' });
    expect(existsSync(it.destination)).toBe(false);
  });

  it('refuses a file of another size before it is downloaded', async () => {
    await using it = await serve();
    await expect(download({ ...it.request, bytes: 5 })).rejects.toMatchObject({ code: 'wrong_size' });
  });

  it('says what to do when there is no server', async () => {
    const it_ = await serve();
    await it_.server[Symbol.asyncDispose]();
    const request = { ...it_.request, timing: { ...timing, attempts: 2 } };
    await expect(download(request)).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('follows redirects, but not in circles', async () => {
    await using it = await serve({ faults: [{ kind: 'redirect', to: '/elsewhere' }] });
    expect(await download(it.request)).toBe(sha256(content));
    expect(it.server.requests[1]?.path).toBe('/elsewhere');
    it.server.options.faults = Array(20).fill({ kind: 'redirect', to: '/round' });
    await expect(download(it.request)).rejects.toMatchObject({ code: 'too_many_redirects' });
  });
});
