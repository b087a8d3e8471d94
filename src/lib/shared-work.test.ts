import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SharedWork } from './shared-work.ts';

const long = (signal: AbortSignal) => sleep(60_000, 'done', { signal });

test('continues for the other callers when one gives up, and stops when the last one does', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const work = new SharedWork(long);
  const waits = [work.join(first.signal), work.join(second.signal)];
  first.abort(new Error('the first'));
  await expect(waits[0]).rejects.toThrow('the first');
  expect(work.isStopped).toBe(false);
  second.abort(new Error('the second'));
  await expect(waits[1]).rejects.toThrow('the second');
  expect(work.isStopped).toBe(true);
});

test('gives its result to all callers, also to those who join later', async () => {
  const { signal } = new AbortController();
  const work = new SharedWork(async () => await sleep(1, 'done'));
  expect(await Promise.all([work.join(signal), work.join(signal)])).toEqual(['done', 'done']);
  expect(await work.join(signal)).toBe('done');
  expect(work.isStopped).toBe(false);
  const failing = new SharedWork(async () => await Promise.reject(new Error('no room')));
  await expect(failing.join(signal)).rejects.toThrow('no room');
  await expect(work.join(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
});
