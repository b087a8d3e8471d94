import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { backgroundFlushes, type Flushable } from './background-flushes.ts';

/** Flushes that take a while, as they begin and end. */
function slowFlushables(count: number, log: string[], fails = -1): Flushable[] {
  return Array.from({ length: count }, (_, number) => ({
    async flush() {
      log.push(`begin ${number}`);
      await setTimeout(5);
      log.push(`end ${number}`);
      if (number === fails) throw new Error('no space left');
    },
  }));
}

test('traces are flushed one after the other, whatever becomes of one, and each once for several writes', async () => {
  const log: string[] = [];
  for (const each of slowFlushables(3, log, 1)) {
    backgroundFlushes.add(each);
    backgroundFlushes.add(each);
  }
  expect(log).toEqual([]);
  await vi.waitUntil(() => log.length === 6, { timeout: 20_000 });
  expect(log).toEqual(['begin 0', 'end 0', 'begin 1', 'end 1', 'begin 2', 'end 2']);
});

test('what is written while others are flushed is flushed later', async () => {
  const log: string[] = [];
  const [second] = slowFlushables(1, log);
  const first: Flushable = {
    async flush() {
      log.push('first');
      if (log.length > 1 || second === undefined) return;
      backgroundFlushes.add(second);
      backgroundFlushes.add(first);
      await setTimeout(5);
      log.push('first is on disk');
    },
  };
  backgroundFlushes.add(first);
  await vi.waitUntil(() => log.length === 5, { timeout: 20_000 });
  expect(log).toEqual(['first', 'first is on disk', 'begin 0', 'end 0', 'first']);
});
