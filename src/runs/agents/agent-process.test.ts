import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { removeTree } from '../../lib/read-only-tree.ts';
import { createSandbox } from '../../sandbox/index.ts';
import { AgentProcess, type AgentRequests } from './agent-process.ts';
import { LineQueue } from './line-queue.ts';

const folder = mkdtempSync(join(tmpdir(), 'mlab-agent-process-'));
afterAll(() => removeTree(folder));
const { signal } = new AbortController();
const megabyte = 2 ** 20;

/** What a process that runs this Python code returns for its first request, or the error with which it fails. */
async function asked(source: string, answer: AgentRequests['answer']): Promise<unknown> {
  const limits = {
    memoryBytes: 1024 * megabyte,
    processes: 10,
    fileBytes: megabyte,
    temporaryBytes: megabyte,
  };
  await using sandbox = await createSandbox('none', {
    ...{ mounts: [], hide: [], withheld: [], concealed: [], workingDirectory: folder, variables: {} },
    ...{ python: null, limits, watch: null },
  });
  await using process = await AgentProcess.start(sandbox, ['python3', '-c', source]);
  return await process.request('run', {}, { answer, notified: () => {} }, signal);
}

describe('a hostile agent in a separate process', () => {
  test('has at most as much unread output in the harness as a message may be long, in however many lines', async () => {
    const lines = new LineQueue();
    const line = Buffer.from(`${'x'.repeat(megabyte)}\n`);
    for (let index = 0; index < 1_000; index += 1) lines.add(line);
    let taken = 0;
    for (;;) {
      const next = await lines.next(signal);
      if ('end' in next) {
        expect(next.end).toMatch(/without waiting for an answer/);
        break;
      }
      taken += 1;
    }
    expect(taken).toBeLessThan(70);
  });

  test('is read as long as its lines are consumed', async () => {
    const lines = new LineQueue();
    const line = Buffer.from(`${'x'.repeat(megabyte)}\n`);
    for (let index = 0; index < 200; index += 1) {
      lines.add(line);
      expect(await lines.next(signal)).toHaveProperty('line');
    }
  });

  test('cannot write a message with more values than fit into memory', async () => {
    const source = `print('{"jsonrpc":"2.0","id":1,"result":[' + '{},' * 3_000_000 + '{}]}', flush=True)`;
    await expect(asked(source, async () => [])).rejects.toThrow(
      /can't be read \(it holds more than 1048576 values\)/,
    );
  });

  test('cannot fill the harness with answers that it does not read', async () => {
    const source = `import time
for id in range(200): print('{"jsonrpc":"2.0","id":%d,"method":"step"}' % id, flush=True)
time.sleep(100)`;
    const answer = async () => [{ result: 'x'.repeat(megabyte) }];
    await expect(asked(source, answer)).rejects.toThrow(/has not read 67108864 bytes of answers/);
  });
});
