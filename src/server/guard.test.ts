import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { ask, startViewer } from '../../test/fixtures/viewer-place.ts';
import { ViewerError } from '../schema/index.ts';
import { ownNames } from './http/guard.ts';

const run = '/api/experiments/first/runs/digits-baseline-0';

/** Sends bytes unchanged; resolves with the whole response when the server closes. */
function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
}

describe('a request to the viewer', () => {
  const secret = `sk-${'never-served'.repeat(3)}`;
  let port: number;

  async function guarded(changes = {}) {
    const scratch = temporaryFolder();
    const root = join(scratch, 'experiments');
    const { run: folder } = await makeExampleRun(root);
    writeFileSync(join(root, 'secret.txt'), secret);
    writeFileSync(join(folder.folder, 'secret.txt'), secret);
    writeFileSync(join(scratch, 'secret.txt'), secret);
    const viewer = await startViewer([root], scratch, changes);
    port = viewer.port;
    return viewer;
  }

  /** A request with headers that `fetch` does not allow. */
  function askAs(
    headers: Record<string, string>,
    path = '/api/info',
    method = 'GET',
  ): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      request({ port, path, headers, method }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  }

  test('must use a name of this machine, and not be from a page of another site', async () => {
    await guarded();
    expect(await askAs({ host: `localhost:${port}` })).toBe(200);
    expect(await askAs({ host: `attacker.example:${port}` })).toBe(421);
    expect(await askAs({ host: '127.0.0.1' })).toBe(421);
    const host = `127.0.0.1:${port}`;
    expect(await askAs({ host, origin: `http://${host}` })).toBe(200);
    expect(await askAs({ host, origin: 'http://attacker.example' })).toBe(403);
    expect(await askAs({ host, origin: 'null' })).toBe(403);
    expect(await askAs({ host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).toBe(403);
    const link = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    expect(await askAs({ host, ...link }, '/')).toBe(200);
  });

  test('on port 80 may leave out the port, as browsers do', () => {
    expect([...ownNames(80)]).toEqual(expect.arrayContaining(['localhost', '127.0.0.1:80', '[::1]']));
    expect(ownNames(8080)).not.toContain('localhost');
  });

  test('can only read', async () => {
    await guarded();
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      expect(await askAs({ host: `localhost:${port}` }, '/api/info', method)).toBe(405);
    expect(await askAs({ host: `localhost:${port}` }, '/api/info', 'HEAD')).toBe(200);
  });

  test('from other machines needs the token, which is moved from the address to a cookie', async () => {
    const viewer = await guarded({ host: '0.0.0.0' });
    expect(viewer.url).toContain(`?token=${viewer.token}`);
    expect((await ask(viewer, '/api/info')).status).toBe(401);
    expect((await ask(viewer, '/')).status).toBe(401);
    expect((await ask(viewer, `/?token=${'x'.repeat(32)}`)).status).toBe(401);
    expect((await ask(viewer, '/api/info', { authorization: `Bearer ${viewer.token}` })).status).toBe(200);
    const entered = await ask(viewer, `/?token=${viewer.token}`);
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/']);
    const cookie = entered.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/; HttpOnly; SameSite=Lax/);
    expect((await ask(viewer, '/api/info', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200);
  });

  test('gets an answer that forbids everything that pages of this server never do', async () => {
    const viewer = await guarded();
    for (const path of ['/', '/api/info', '/api/nothing', '/nothing', `${run}/steps/1`]) {
      const { headers } = await ask(viewer, path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
  });

  test('sets a cookie only with the right token, and none of its bytes gets into a header', async () => {
    const viewer = await guarded({ host: '0.0.0.0' });
    const cookie = `mlab_viewer_${viewer.port}=${viewer.token}`;
    const wrong = [
      'EVIL; Domain=evil.example',
      'a\r\nset-cookie: b=c',
      '\0',
      '',
      `${viewer.token} `,
      'é'.repeat(200),
    ];
    for (const given of wrong.map(encodeURIComponent)) {
      for (const headers of [{}, { cookie }]) {
        const answer = await fetch(`http://127.0.0.1:${viewer.port}/?token=${given}`, {
          ...{ headers, redirect: 'manual' },
        });
        expect(answer.status).toBe(401);
        expect(answer.headers.get('set-cookie')).toBeNull();
        expect(await answer.text()).not.toMatch(/EVIL|b=c/);
      }
    }
    const right = await fetch(viewer.url.replace('0.0.0.0', '127.0.0.1'), { redirect: 'manual' });
    expect(right.status).toBe(303);
    expect(right.headers.get('set-cookie')).toBe(`${cookie}; HttpOnly; SameSite=Lax; Path=/`);
    expect(await askAs({ cookie })).toBe(200);
  });

  test('is refused if it is malformed, and the server keeps working', async () => {
    const viewer = await guarded();
    const host = `127.0.0.1:${viewer.port}`;
    const lines = [
      'GET /%zz HTTP/1.1',
      'GET //evil.example/api/info HTTP/1.1',
      'GET http://evil.example/api/nothing HTTP/1.1',
      'GET /api/experiments/%ff%fe HTTP/1.1',
      'GET /../../etc/passwd HTTP/1.1',
      'GET /assets/..%2f..%2fsecret.txt HTTP/1.1',
      'GET \\\\evil HTTP/1.1',
      'POST /api/info HTTP/1.1',
      'DELETE / HTTP/1.1',
      'PROPFIND / HTTP/1.1',
      'GET /api/nothing HTTP/1.0',
      'nonsense',
    ];
    for (const line of lines) {
      const answer = await sendRaw(viewer.port, `${line}\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(answer, line).toMatch(/^HTTP\/1\.1 (400|403|404|405|421) /);
      expect(answer).not.toMatch(/evil|passwd|root:/);
    }
    const large = `GET / HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`;
    expect(await sendRaw(viewer.port, large)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await askAs({ host })).toBe(200);
  });

  test('is answered while connections that send nothing are closed', async () => {
    const viewer = await guarded();
    const ends = Array.from({ length: 50 }, () => sendRaw(viewer.port, 'GET / HTTP/1.1\r\nHost:'));
    expect(await askAs({ host: `127.0.0.1:${viewer.port}` })).toBe(200);
    for (const end of await Promise.all(ends)) expect(end).toMatch(/^HTTP\/1\.1 408 /);
  }, 30_000);

  test('never reaches a file through an id: whatever its address, the answer follows the contract', async () => {
    const viewer = await guarded();
    const trick = fc.oneof(
      fc.constantFrom(
        '..',
        '%2e%2e',
        '..%2fsecret.txt',
        '%2e%2e%2fsecret.txt',
        'secret.txt',
        '%00',
        '/etc/passwd',
        '~2',
      ),
      fc.constantFrom('__proto__', 'constructor', '-1', '1e3', '99999999999999999999', '%ff', '%'),
      fc.string({ unit: 'binary' }).map((text) => encodeURIComponent(text.toWellFormed())),
    );
    const place = fc.constantFrom(
      (id: string) => `/api/experiments/${id}`,
      (id: string) => `/api/experiments/${id}/runs/digits-baseline-0`,
      (id: string) => `/api/experiments/first/runs/${id}`,
      (id: string) => `/api/experiments/first/runs/${id}/steps/1`,
      (id: string) => `${run}/steps/${id}`,
      (id: string) => `${run}/steps/1/text?part=${id}`,
      (id: string) => `${run}/steps/1/diff?against=${id}`,
      (id: string) => `/api/experiments/first/objects/${id}`,
      (id: string) => `/api/experiments/first/objects/${id}/raw`,
      (id: string) => `/api/tasks/${id}`,
      (id: string) => `/${id}`,
      (id: string) => `/assets/${id}`,
    );
    await fc.assert(
      fc.asyncProperty(place, trick, async (at, id) => {
        const { status, text } = await ask(viewer, at(id));
        expect(text).not.toContain(secret);
        if (status !== 200) expect(ViewerError.parse(JSON.parse(text)).hint).not.toBe('');
        expect([200, 400, 404]).toContain(status);
      }),
      { numRuns: 80 },
    );
  });

  test('never gets a key of this process', async () => {
    process.env.OPENAI_API_KEY = secret;
    const viewer = await guarded();
    const paths = [
      '/api/info',
      '/api/experiments',
      '/api/experiments/first',
      run,
      `${run}/timeline`,
      `${run}/steps/1`,
    ];
    for (const path of [
      ...paths,
      `${run}/steps/1/files`,
      '/',
      '/assets/page-0.js',
      '/api/experiments/first/report',
    ]) {
      const { text, headers } = await ask(viewer, path);
      expect(text + JSON.stringify([...headers])).not.toContain(secret);
    }
    delete process.env.OPENAI_API_KEY;
  });
});
