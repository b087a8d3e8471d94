import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { GatewayServer, readToolChat } from '../../../src/models/index.ts';
import { ModelRequest } from '../../../src/schema/index.ts';
import { serveViewer } from '../../../src/server/index.ts';
import { makeExampleRun } from '../../fixtures/store/example-run.ts';
import { defineTarget } from '../engine/target.ts';
import { hold } from './containers.ts';

const chat =
  '{"model":"x","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"stop":["b"],"n":1}';

export const chatTarget = defineTarget({
  name: 'chat-request',
  reads: "the body of a request of an agent's tool for a language model",
  seeds: [
    chat,
    '{"messages":[{"role":"system","content":"a"},{"role":"assistant","content":"b"}],"stop":"c","stream":false}',
  ],
  words: [
    '"messages"',
    '"role"',
    '"content"',
    '"system"',
    '"user"',
    '"tool"',
    '"stop"',
    '"stream"',
    '"tools"',
    '"n"',
    'null',
  ],
  batch: 64,
  open: () => ({
    run(input) {
      const asked = readToolChat(input.toString('utf8'));
      if ('problem' in asked) hold(asked.problem.length < 2_000, 'a problem is told in a few words');
      else ModelRequest.parse(asked);
    },
  }),
});

const post = (body: string) =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

export const httpWords = [
  ...[
    'GET ',
    'POST ',
    'HEAD ',
    'OPTIONS ',
    'CONNECT ',
    ' HTTP/1.1\r\n',
    ' HTTP/1.0\r\n',
    '\r\n',
    '\r\n\r\n',
    'Host: ',
    'Expect: 100-continue\r\n',
  ],
  ...[
    'Transfer-Encoding: chunked\r\n',
    'Content-Length: 5\r\n',
    'Connection: close\r\n',
    'Upgrade: websocket\r\n',
    '0\r\n\r\n',
    '5\r\nhello\r\n',
  ],
];

export const gatewayTarget = defineTarget({
  name: 'gateway',
  reads: 'what comes over the Unix socket of the model gateway',
  seeds: [
    post(chat),
    'GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n',
    'POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"mes\r\n0\r\n\r\n',
  ],
  words: [...httpWords, '/v1/models', '/v1/chat/completions', '?'],
  batch: 8,
  milliseconds: () => 2_000,
  async open(folder) {
    const usage = {
      input: 1,
      cached_input: 0,
      cache_write: 0,
      output: 1,
      reasoning: 0,
      source: 'provider' as const,
    };
    const socket = join(folder, 's.sock');
    const server = await GatewayServer.listen(socket, async () => ({
      ...{ kind: 'answered', answeredBy: null, latencyMs: 0 },
      answer: { kind: 'answered', text: 'yes', tool_calls: [], finish: 'stop' },
      ...{ usage, cost: 0 },
    }));
    return {
      async run(input) {
        const answer = await exchange({ path: socket }, input);
        hold(!/^HTTP\/1\.1 500/.test(answer), 'no request is a fault of ours');
        hold(server.failure === null, `no request ends the run: ${server.failure}`);
      },
      close: () => server[Symbol.asyncDispose](),
    };
  },
});

const page = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: localhost:PORT\r\n${headers}\r\n`;
const runPath = '/api/experiments/first/runs/digits-baseline-0';

export const viewerTarget = defineTarget({
  name: 'viewer',
  reads: 'requests to the viewer, with and without a token',
  seeds: [
    ...[
      '/',
      '/api/info',
      '/api/experiments',
      '/api/experiments/first',
      '/api/experiments/first/report?convention=every_run',
      runPath,
    ],
    ...[
      `${runPath}/timeline?from=0&to=9`,
      `${runPath}/search?q=a&from=1`,
      `${runPath}/steps/1`,
      `${runPath}/steps/1/text?part=observation`,
    ],
    ...[
      `${runPath}/steps/1/raw?part=observation`,
      `${runPath}/steps/1/files`,
      `${runPath}/steps/1/diff?against=0`,
      '/api/tasks/digits',
    ],
    ...[
      '/api/compare?a=first&b=first',
      `/api/experiments/first/objects/${'a'.repeat(64)}/raw`,
      '/?token=x',
      '/assets/page-0.js',
    ],
  ].map((path) => page(path)),
  words: [
    ...httpWords,
    ...[
      '/api/',
      'experiments/',
      'first',
      '/runs/',
      '/steps/',
      '?q=',
      '&from=',
      '%2f',
      '%00',
      '%',
      '?token=',
      'Host: evil\r\n',
      '//a/',
      '/../',
    ],
    ...[
      'Origin: http://evil\r\n',
      'Sec-Fetch-Site: cross-site\r\n',
      'Cookie: mlab_viewer_PORT=',
      'Accept-Encoding: gzip\r\n',
      'Last-Event-ID: 1\r\n',
    ],
  ],
  batch: 8,
  milliseconds: () => 3_000,
  async open(folder) {
    const experiments = join(folder, 'experiments');
    await makeExampleRun(experiments);
    const pages = join(folder, 'pages');
    mkdirSync(pages);
    writeFileSync(join(pages, 'index.html'), '<!doctype html>');
    const faults: string[] = [];
    const options = {
      tasks: [],
      version: '1',
      command: 'mlab',
      port: 0,
      pages,
      log: (line: string) => faults.push(line),
    };
    const open = await serveViewer({ ...options, folders: [experiments] });
    const guarded = await serveViewer({ ...options, folders: [experiments], host: '0.0.0.0' });
    return {
      async run(input) {
        for (const { port, token } of [open, guarded]) {
          const named = Buffer.from(input.toString('latin1').replaceAll('PORT', String(port)), 'latin1');
          const answer = await exchange({ port, host: '127.0.0.1' }, named);
          const fault = faults.splice(0).join('\n');
          hold(fault === '', `no request is a fault of ours: ${fault}`);
          if (token !== null)
            hold(!/^HTTP\/1\.1 (200|303)/.test(answer), 'nobody comes in without the token');
          hold(!/^set-cookie:/im.test(answer), 'nobody gets a cookie for a guess');
        }
      },
      async close() {
        await open[Symbol.asyncDispose]();
        await guarded[Symbol.asyncDispose]();
      },
    };
  },
});

/** Sends everything, and returns the answer once nothing more comes. */
export async function exchange(
  place: { path: string } | { port: number; host: string },
  input: Buffer,
): Promise<string> {
  const socket = connect(place);
  const parts: Buffer[] = [];
  socket.on('error', () => {});
  socket.on('data', (part) => {
    parts.push(part);
    // Live events never end.
    if (Buffer.concat(parts).includes('text/event-stream')) socket.destroy();
  });
  socket.setTimeout(1_500, () => socket.destroy());
  socket.end(input);
  await once(socket, 'close');
  return Buffer.concat(parts).toString('latin1').split('\r\n\r\n')[0] ?? '';
}
