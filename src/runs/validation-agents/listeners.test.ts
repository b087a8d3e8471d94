import { once } from 'node:events';
import { createConnection } from 'node:net';
import { expect, test } from 'vitest';
import { Listeners } from './listeners.ts';

test('listeners receive connections of the harness, and of anybody else, on every kind of socket', async () => {
  await using listeners = await Listeners.open(`test-${process.pid}`);
  expect(await listeners.provePresence()).toBe(4);
  expect(listeners.heard).toEqual([]);
  const talker = createConnection(listeners.ports.tcp, '127.0.0.1').resume();
  // What is sent and never read must not keep the listener from closing.
  talker.on('error', () => {}).write('x'.repeat(1000));
  await once(talker, 'close');
  expect(listeners.heard).toEqual(['TCP']);
});
