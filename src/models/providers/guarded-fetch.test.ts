import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { guardedFetch, RedirectError, StallError } from './guarded-fetch.ts';

async function startServer(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('a guarded fetch', () => {
  it('waits as long as data arrives now and then', async () => {
    await using server = await startServer(async (_, response) => {
      response.writeHead(200);
      for (let piece = 0; piece < 8; piece++) {
        response.write('.');
        await sleep(60);
      }
      response.end();
    });
    const response = await guardedFetch(300, true)(server.url);
    expect(await response.text()).toBe('........');
  });

  it('gives up on a server that sends no headers', async () => {
    await using server = await startServer(() => {});
    await expect(guardedFetch(50, true)(server.url)).rejects.toBeInstanceOf(StallError);
  });

  it('gives up on a reply that stops in the middle', async () => {
    await using server = await startServer((_, response) => {
      response.writeHead(200).write('half');
    });
    const response = await guardedFetch(50, true)(server.url);
    await expect(response.text()).rejects.toBeInstanceOf(StallError);
  });

  it('does not mistake a slow reader for a silent server', async () => {
    await using server = await startServer((_, response) => {
      response.writeHead(200).end('all at once');
    });
    const response = await guardedFetch(50, true)(server.url);
    await sleep(150);
    expect(await response.text()).toBe('all at once');
  });

  it.each([
    ['1 MiB of an error', 500, 2 ** 20],
    ['all of an answer', 200, 3 * 2 ** 20],
  ])('reads %s', async (_, status, bytes) => {
    await using server = await startServer((_, response) => {
      response.writeHead(status).end(Buffer.alloc(3 * 2 ** 20, 'x'));
    });
    const response = await guardedFetch(60_000, false)(server.url);
    expect([response.status, (await response.text()).length]).toEqual([status, bytes]);
  });

  it('ends the reading of an error that has no end, and of a reply in one piece in place of a stream', async () => {
    await using server = await startServer(({ url }, response) => {
      response.writeHead(url === '/error' ? 500 : 200, { 'content-type': 'application/json' });
      const more = () => {
        if (!response.destroyed) response.write(Buffer.alloc(2 ** 16, ' '), more);
      };
      more();
    });
    const error = await guardedFetch(60_000, true)(`${server.url}error`);
    expect((await error.text()).length).toBe(2 ** 20);
    await expect(guardedFetch(60_000, true)(server.url)).rejects.toMatchObject({
      name: 'UnstreamedReply',
      body: ' '.repeat(2 ** 20),
    });
  });

  it('follows no redirect, so that no header is sent elsewhere', async () => {
    let visits = 0;
    await using elsewhere = await startServer((_, response) => {
      visits++;
      response.end();
    });
    await using server = await startServer((_, response) => {
      response.writeHead(307, { location: `${elsewhere.url}?key=secret` }).end();
    });
    const call = guardedFetch(1_000, true)(server.url, { headers: { 'x-api-key': 'secret' } });
    await expect(call).rejects.toBeInstanceOf(RedirectError);
    await expect(call).rejects.toThrow(/^((?!secret).)*$/);
    expect(visits).toBe(0);
  });
});
