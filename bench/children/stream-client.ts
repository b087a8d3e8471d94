/**
 * Requests streams of `stream-server.ts`, and prints how long their bytes took: the times of first bytes, and of all
 * events.
 */
import { Agent, request } from 'node:http';

const [url = '', token = '', streams = '1', pauseMs = '0', rounds = '1'] = process.argv.slice(2);
const body = JSON.stringify({
  model: 'm',
  stream: true,
  messages: [{ role: 'user', content: 'x'.repeat(30_000) }],
});
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const firsts: number[] = [];
const events: number[] = [];

function stream(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const start = process.hrtime.bigint();
  let isFirst = true;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = request(url, { method: 'POST', headers, agent }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
    response.on('data', (piece: Buffer) => {
      const now = process.hrtime.bigint();
      if (isFirst) firsts.push(Number(now - start) / 1e6);
      isFirst = false;
      for (const [, written = ''] of piece.toString().matchAll(/"content":"(\d+) "/g))
        events.push(Number(now - BigInt(written)) / 1e6);
    });
    response.once('end', resolve);
  });
  sent.once('error', reject);
  sent.end(body);
  return promise;
}

for (let round = 0; round < Number(rounds); round += 1) {
  const running: Promise<void>[] = [];
  for (let index = 0; index < Number(streams); index += 1) {
    running.push(stream());
    // Not all in the same millisecond, just like real programs.
    if (Number(pauseMs) > 0) await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)));
  }
  await Promise.all(running);
}
process.stdout.write(JSON.stringify({ firsts, events }));
agent.destroy();
