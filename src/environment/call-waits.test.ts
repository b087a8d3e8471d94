import { describe, expect, test } from 'vitest';
import { BusyTime } from './busy-time.ts';
import { CallWaits } from './call-waits.ts';

function place() {
  let now = 0;
  const paused = new BusyTime(() => now);
  const waits = new CallWaits(() => paused.begin());
  const until = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { promise, end: () => Promise.resolve(resolve()) };
  };
  const pass = (milliseconds: number) => {
    now += milliseconds;
    return paused.milliseconds;
  };
  return { waits, until, pass };
}

describe('the clock of a run', () => {
  test('is paused once while several of its calls wait for others, until none does', async () => {
    const { waits, until, pass } = place();
    const [first, second] = [until(), until()];
    waits.waits(first.promise);
    waits.waits(second.promise);
    expect(pass(10)).toBe(10);
    await first.end();
    expect(pass(10)).toBe(20);
    await second.end();
    expect(pass(10)).toBe(20);
  });

  test('runs while a call waits beside one that is being answered, for which it may be waiting', async () => {
    const { waits, until, pass } = place();
    const [waiting, answered] = [until(), until()];
    waits.sent(answered.promise);
    waits.waits(waiting.promise);
    expect(pass(10)).toBe(0);
    await answered.end();
    expect(pass(10)).toBe(10);
    waits.sent(until().promise);
    expect(pass(10)).toBe(10);
  });
});
