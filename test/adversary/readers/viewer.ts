import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startMlab } from '../../fixtures/mlab-process.ts';
import { type AttackFields, attack, held, type Verdict, worked } from '../attack.ts';
import { changing, type Json, layOut, recordedRun } from '../recorded-experiment.ts';
import type { Stage } from '../stage.ts';

const Printed = z.object({ url: z.string(), port: z.int(), token: z.string().nullable() });
type Viewer = z.infer<typeof Printed>;

/** Against a viewer of one recorded run, which must keep answering. */
function viewed(
  title: string,
  run: (viewer: Viewer, stage: Stage) => Promise<Verdict>,
  {
    event,
    flags = [],
    ...more
  }: Partial<AttackFields> & { event?: (event: Json) => Json; flags?: string[] } = {},
) {
  return attack({
    title,
    scope: 'host',
    long: true,
    seconds: 90,
    ...more,
    run: async (stage) => {
      await layOut(stage, {}, event ?? ((same) => same));
      const argv = ['view', '--json', '--no-open', '--port', '0', ...flags];
      const { process, said } = startMlab(argv, { folder: stage.folder });
      try {
        let text = '';
        process.stdout?.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        while (!text.endsWith('}\n') && process.exitCode === null) await sleep(20);
        if (process.exitCode !== null) throw new Error(said());
        const viewer = Printed.parse(JSON.parse(text));
        const verdict = await run(viewer, stage);
        const alive = await ask(viewer, request('/'));
        return /^HTTP\/1\.1 (200|302|303|401|403)/.test(alive)
          ? verdict
          : worked(`then it answered ${alive.slice(0, 80)}`);
      } finally {
        process.kill('SIGKILL');
      }
    },
  });
}

function request(path: string, headers: Record<string, string> = {}, method = 'GET'): string {
  const all = { Host: '127.0.0.1', Connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Sends raw bytes; returns what was received within some seconds. */
function ask({ port }: Viewer, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    const timer = setTimeout(() => socket.destroy(), 8_000);
    socket.on('data', (chunk) => {
      answer = (answer + chunk.toString('latin1')).slice(0, 2_000_000);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });
    const hosted = bytes.replaceAll('Host: 127.0.0.1\r\n', `Host: 127.0.0.1:${port}\r\n`);
    socket.write(hosted);
  });
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);

const escapes = ['../', '..%2f', '%2e%2e/', '..\\', '....//', '%252e%252e%252f', '..%c0%af', '..;/'];
const paths = escapes.flatMap((up) => {
  const way = up.repeat(12);
  return [
    ...[`/${way}SECRET`, `/assets/${way}SECRET`, `//${way}SECRET`, `/api/experiments/${way}SECRET`],
    ...[
      `/api/experiments/first/runs/${way}SECRET`,
      `/api/${recordedRun}/files/${way}SECRET?path=${way}SECRET`,
    ],
  ];
});

const markup = '</script><script>alert(1)</script><img src=x onerror=alert(1)>';

export default [
  viewed('asks the viewer for files by paths that lead out', async (viewer, { secret, vault }) => {
    for (const path of [...paths, '/SECRET', '/file:SECRET', '/api/experiments/first?folder=SECRET']) {
      const answer = await ask(viewer, request(path.replaceAll('SECRET', `${vault.slice(1)}/secret.txt`)));
      if (answer.includes(secret)) return worked(path);
      if (statusOf(answer) >= 500) return worked(`${path}: ${answer.slice(0, 60)}`);
    }
    return held(`${paths.length} paths`);
  }),
  viewed('has a page of another site ask the viewer', async (viewer) => {
    const headers = [
      { Host: 'evil.example' },
      { Host: `127.0.0.1.evil.example:${viewer.port}` },
      { Origin: 'http://evil.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ];
    for (const header of headers) {
      const answer = await ask(viewer, request('/api/experiments', header));
      if (statusOf(answer) < 400) return worked(JSON.stringify(header));
    }
    return held(`${headers.length} requests are refused`);
  }),
  viewed('changes something through the viewer', async (viewer) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'CONNECT', 'TRACE', 'OPTIONS']) {
      const answer = await ask(viewer, request('/api/experiments/first', {}, method));
      if (statusOf(answer) < 400 && statusOf(answer) > 0) return worked(`${method}: ${answer.slice(0, 60)}`);
    }
    return held('GET alone is answered');
  }),
  viewed('hides a second request in the body of a first one', async (viewer) => {
    const hidden = request('/api/experiments', { Host: 'evil.example' });
    const both = { 'Content-Length': '5', 'Transfer-Encoding': 'chunked', Connection: 'keep-alive' };
    for (const headers of [
      both,
      { ...both, 'Transfer-Encoding': 'xchunked' },
      { 'Content-Length': '1, 2' },
    ]) {
      const answer = await ask(viewer, `${request('/', headers)}0\r\n\r\n${hidden}`);
      if (answer.includes('"experiments"')) return worked(JSON.stringify(headers));
    }
    return held('nothing of it is answered');
  }),
  viewed(
    'writes markup into what a run observed',
    async (viewer) => {
      let shown = 0;
      for (const path of ['steps/1', 'steps/2', '']) {
        const answer = await ask(
          viewer,
          request(`/api/experiments/${recordedRun.replace('/', '/runs/')}/${path}`),
        );
        const [head = ''] = answer.split('\r\n\r\n');
        if (statusOf(answer) === 200 && answer.includes('alert(1)')) shown += 1;
        if (statusOf(answer) !== 200) continue;
        if (!/content-type: application\/json/i.test(head)) return worked(head);
        if (!/x-content-type-options: nosniff/i.test(head)) return worked('its kind may be guessed');
        if (!/content-security-policy: .*script-src 'self'|default-src 'none'/i.test(head))
          return worked(head);
      }
      if (shown === 0) throw new Error('the markup is shown nowhere');
      const page = await ask(viewer, request('/'));
      return page.includes(markup) ? worked('it stands in the page') : held('it is data, never a page');
    },
    { event: changing('step_finished', { observation: { text: markup } }) },
  ),
  viewed(
    'sets cookies and headers by the token in an address',
    async (viewer) => {
      for (const token of [
        'EVIL; Domain=evil.example',
        'x%0d%0aSet-Cookie:%20evil=1',
        '%',
        '\u00ff',
        '%00'.repeat(10_000),
      ]) {
        const answer = await ask(viewer, request(`/?token=${token.replaceAll(' ', '%20')}`));
        const [head = ''] = answer.split('\r\n\r\n');
        if (/set-cookie:.*evil/i.test(head)) return worked(head);
        if (statusOf(answer) >= 500 && statusOf(answer) !== 505) return worked(head);
        if (statusOf(answer) < 400 && statusOf(answer) > 0) return worked(`${token} is taken for the token`);
      }
      const guessed = await ask(viewer, request('/api/experiments', { Cookie: 'mlab_token=; token=null' }));
      return statusOf(guessed) < 400
        ? worked('no token is needed')
        : held('refused, and no header says any of it');
    },
    { flags: ['--host', '0.0.0.0'] },
  ),
  viewed('keeps 400 connections and requests half open', async (viewer) => {
    const sockets = Array.from({ length: 400 }, () => {
      const socket = connect(viewer.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
      return socket;
    });
    await sleep(500);
    const start = performance.now();
    const answer = await ask(viewer, request('/'));
    const seconds = (performance.now() - start) / 1000;
    for (const socket of sockets) socket.destroy();
    return statusOf(answer) === 200 && seconds < 5
      ? held(`answered after ${seconds.toFixed(1)} s`)
      : worked(answer.slice(0, 80));
  }),
  viewed('sends headers without end', async (viewer) => {
    for (const bytes of [
      `GET / HTTP/1.1\r\n${'X-A: b\r\n'.repeat(100_000)}\r\n`,
      `GET /${'a'.repeat(5_000_000)} HTTP/1.1\r\n\r\n`,
    ]) {
      const answer = await ask(viewer, bytes);
      if (statusOf(answer) === 200 || statusOf(answer) === 500) return worked(answer.slice(0, 80));
    }
    return held('refused');
  }),
  viewed('has the viewer show numbers of steps and offsets that there are not', async (viewer) => {
    const base = `/api/experiments/${recordedRun.replace('/', '/runs/')}`;
    for (const number of ['-1', '1e9', '9007199254740993', 'NaN', '__proto__', '0x10', '%00', '1/../../..']) {
      for (const path of [
        `${base}/steps/${number}`,
        `${base}/steps?from=${number}&count=${number}`,
        `${base}/calls/${number}`,
      ]) {
        const answer = await ask(viewer, request(path));
        if (statusOf(answer) >= 500) return worked(`${path}: ${answer.slice(0, 80)}`);
      }
    }
    return held('not found');
  }),
];
