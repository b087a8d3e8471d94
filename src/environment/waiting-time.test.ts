import { describe, expect, test } from 'vitest';
import { WaitingTime } from './waiting-time.ts';

describe('time that a run waits', () => {
  test('is counted once if one activity waits for several things at the same time', async () => {
    let now = 0;
    const waiting = new WaitingTime(() => now);
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await waiting.during(async (waited) => {
      waited(first.promise);
      now = 10;
      waited(second.promise);
      now = 30;
      expect(waiting.milliseconds).toBe(30);
      first.resolve();
      await first.promise;
      now = 40;
      second.resolve();
      await second.promise;
      now = 45;
    });
    expect(waiting.milliseconds).toBe(40);
  });

  test('is never more than the time that passed', async () => {
    let now = 100;
    const waiting = new WaitingTime(() => now);
    await waiting.during(async (waited) => {
      now = 110;
      waited(50);
      waited(50);
    });
    expect(waiting.milliseconds).toBe(10);
  });
});
