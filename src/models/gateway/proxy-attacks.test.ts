import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { RawReply } from '../../../test/fakes/providers/index.ts';
import { postTo, rawProxyPlace } from '../../../test/fixtures/proxy-place.ts';
import { ProviderSettings } from '../../schema/index.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

const chat = '/v1/chat/completions';
const hello = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello?' }] };
const answers = (): RawReply => ({
  headers: { 'content-type': 'application/json' },
  pieces: ['{"choices":[]}'],
});

async function place(
  ...[reply = answers, options]: Partial<Parameters<typeof rawProxyPlace>>
): ReturnType<typeof rawProxyPlace> {
  const made = await rawProxyPlace(reply, options);
  open.push(made);
  return made;
}

/** The response to these bytes, until the connection ends. */
async function raw(port: number | null, bytes: string): Promise<string> {
  const socket = connect(port ?? 0, '127.0.0.1');
  socket.write(bytes);
  return await text(socket).catch(() => '');
}

/** A stream of 16 MB. */
const longReply = (): RawReply => {
  const event = 'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n';
  const pieces = [...Array.from({ length: 200 }, () => event.repeat(1_000)), 'data: [DONE]\n\n'];
  return { headers: { 'content-type': 'text/event-stream' }, pieces };
};

/** Asks for a stream of which nothing is read yet. */
function askForStream(port: number | null): Socket {
  const body = JSON.stringify({ ...hello, stream: true });
  const socket = connect(port ?? 0, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`POST ${chat} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer token-of-the-run\r\n`);
  socket.write(`connection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  return socket;
}

describe('a hostile program', () => {
  test.each([
    '/v1/embeddings',
    '/v1/files',
    '/v1/responses/resp_1',
    '/v1/chat/completions/../../admin',
    '/v1/fine_tuning/jobs',
    '/v1beta/cachedContents',
    '/v1beta/models/x:generateContent/../../y',
    '/v1/organizations/api_keys',
    '//v1/chat/completions',
    'http://169.254.169.254/latest/meta-data/',
  ])('reaches nothing else of the provider: %s', async (path) => {
    const { proxy, server } = await place();
    const body = JSON.stringify(hello);
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer token-of-the-run\r\nconnection: close\r\n`;
    const reply = await raw(proxy.port, `${head}content-length: ${body.length}\r\n\r\n${body}`);
    expect(reply).toMatch(/^HTTP\/1\.1 404 /);
    expect(server.requests).toEqual([]);
  });

  test('keeps nobody waiting with a body of millions of values', async () => {
    const { url, server } = await place();
    const body = { ...hello, messages: Array.from({ length: 1_000_000 }, () => ({})) };
    const reply = await postTo(url, chat, body);
    expect(reply.status).toBe(400);
    expect(await reply.text()).toContain('not a JSON object of at most 131072 values');
    expect(server.requests).toEqual([]);
  });

  test.each([
    ['two lengths', 'content-length: 4\r\ncontent-length: 50\r\n'],
    ['a length and chunks', 'content-length: 4\r\ntransfer-encoding: chunked\r\n'],
    ['chunks that are not last', 'transfer-encoding: chunked, identity\r\n'],
    ['a space before the colon', 'content-length : 4\r\n'],
    ['a folded line', 'x-one: a\r\n b\r\ncontent-length : 4\r\n'],
    ['a lone line feed', 'x-one: a\ncontent-length: 4\r\n transfer-encoding: chunked\r\n'],
    ['no number', 'content-length: +4\r\n'],
  ])('smuggles no second request in: %s', async (_, headers) => {
    const { proxy, server } = await place();
    const inner = `POST ${chat} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer token-of-the-run\r\ncontent-length: 2\r\n\r\n{}`;
    const head = `POST ${chat} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer token-of-the-run\r\n`;
    const reply = await raw(proxy.port, `${head}${headers}\r\n0\r\n\r\n${inner}`);
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(reply.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(server.requests).toEqual([]);
  });

  test('cannot add headers to the request to the provider', async () => {
    const { url, server } = await place();
    const sent = request(url + chat, {
      method: 'POST',
      headers: {
        authorization: 'Bearer token-of-the-run',
        ...{ host: 'evil.example', connection: 'x-own, authorization', 'x-own': '1', te: 'trailers' },
      },
    });
    sent.end(JSON.stringify(hello));
    const [response] = await once(sent, 'response');
    response.resume();
    expect(response.statusCode).toBe(200);
    const headers: IncomingHttpHeaders = server.requests[0]?.headers ?? {};
    expect(headers).not.toHaveProperty('x-own');
    expect(headers).not.toHaveProperty('te');
    expect(headers.host).toBe(new URL(server.url).host);
    expect(headers.authorization).toMatch(/^Bearer openai-secret/);
  });

  test.each([
    ['a body that states its length', { 'content-length': String(2 ** 30) }],
    ['one that does not', {}],
  ])('gets no gigabyte in: %s', async (_, length) => {
    const { url, server } = await place();
    const headers = { authorization: 'Bearer token-of-the-run', ...length };
    const sent = request(url + chat, { method: 'POST', headers });
    const ended = Promise.withResolvers<number>();
    sent.once('response', (response) => {
      response.resume();
      ended.resolve(response.statusCode ?? 0);
    });
    sent.on('error', () => ended.resolve(0));
    const part = Buffer.alloc(2 ** 20, 'x');
    let isOver = false;
    void ended.promise.then(() => {
      isOver = true;
    });
    for (let written = 0; written < 1024 && !isOver; written += 1)
      if (!sent.write(part)) await Promise.race([once(sent, 'drain').catch(() => {}), ended.promise]);
    sent.end();
    // It was refused at once, or cut off because it would not end.
    expect([0, 413, 429]).toContain(await ended.promise);
    sent.destroy();
    expect(server.requests).toEqual([]);
    expect((await postTo(url, chat, hello)).status).toBe(200);
  });

  test('that opened too many connections blocks nobody after they are closed', async () => {
    const { url, proxy } = await place();
    const sockets: Socket[] = [];
    let dropped = 0;
    for (let index = 0; index < 1000; index += 1) {
      const socket = connect(proxy.port ?? 0, '127.0.0.1');
      socket.on('error', () => {});
      socket.once('close', () => {
        dropped += 1;
      });
      sockets.push(socket);
    }
    await expect.poll(() => dropped).toBeGreaterThan(500);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await postTo(url, chat, hello).catch(() => null))?.status).toBe(200);
  });

  test.each([
    ['and then reads it all', 10_000, true],
    ['for longer than it may', 50, false],
  ])("leaves a reply unread, which is not the provider's fault: %s", async (_, unreadMs, isPassed) => {
    const settings = ProviderSettings.parse({ stall_seconds: 0.5 });
    const { proxy, records } = await place(longReply, { settings, proxy: { unreadMs } });
    const socket = askForStream(proxy.port);
    // Nobody reads it before this.
    await sleep(3_000);
    const read = await text(socket).catch(() => '');
    expect(read.includes('[DONE]')).toBe(isPassed);
    await expect.poll(() => records.length).toBe(1);
    expect(records).toMatchObject([{ failure: null, answer: { kind: 'answered' } }]);
  });

  test('cannot read a reply so slowly that it is left unread for too long in all', async () => {
    const { proxy } = await place(longReply, { proxy: { unreadMs: 1500 } });
    const socket = askForStream(proxy.port);
    let read = '';
    // A second is not too long, but two are.
    for (let pause = 0; pause < 4; pause += 1) {
      await sleep(1000);
      const enough = read.length + 2_000_000;
      while (read.length < enough && socket.readable) {
        read += socket.read() ?? '';
        await sleep(1);
      }
    }
    read += await text(socket).catch(() => '');
    expect(read.includes('[DONE]')).toBe(false);
  });

  test.each([
    ['deeply nested', `{"messages":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['not UTF-8', '{"model":"\u00ff"}'],
    ['two models', '{"model":"a","model":"b","messages":[]}'],
    ['no object', '[]'],
    ['a prototype', '{"__proto__":{"model":"x"},"messages":[]}'],
  ])('gets an answer of its dialect for a body that is %s', async (what, body) => {
    const { url, server } = await place();
    const bytes = what === 'not UTF-8' ? Buffer.from(body, 'latin1') : body;
    const headers = { authorization: 'Bearer token-of-the-run' };
    const reply = await fetch(url + chat, { method: 'POST', headers, body: bytes });
    expect(reply.status).toBe(what === 'a prototype' ? 200 : 400);
    if (reply.status === 400) expect(await reply.json()).toHaveProperty('error.message');
    expect(server.requests.length).toBe(what === 'a prototype' ? 1 : 0);
  });

  test("cannot use another account's key, or hide usage, by the query", async () => {
    const { url, server } = await place(answers, { model: 'google/gemini-2.5-pro' });
    const path =
      '/v1beta/models/x:generateContent?key=token-of-the-run&%6bey=another&fields=candidates&$fields=x&a=b';
    const reply = await fetch(url + path, { method: 'POST', body: '{"contents":[]}' });
    expect([reply.status, server.requests[0]?.url]).toEqual([
      200,
      '/v1/models/gemini-2.5-pro:generateContent?a=b',
    ]);
  });
});
