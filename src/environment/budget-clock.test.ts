import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../schema/index.ts';
import { BudgetClock } from './budget-clock.ts';

const limits = (seconds: number) => ({ ...defaultLimits, wall_seconds: seconds });

describe('a deadline', () => {
  test('is aborted when the time is up', async () => {
    using deadline = new BudgetClock(limits(0.05), 0).deadline();
    expect(deadline.signal.aborted).toBe(false);
    await delay(200);
    expect(deadline.signal.reason).toEqual(new Error("the run's time is up"));
  });

  test('is aborted with the reason of the signal that stops what it is for', () => {
    const stopped = new AbortController();
    const clock = new BudgetClock(limits(100), 0);
    using before = clock.deadline(stopped.signal);
    stopped.abort('enough');
    using after = clock.deadline(stopped.signal);
    expect([before.signal.reason, after.signal.reason]).toEqual(['enough', 'enough']);
  });

  test('leaves nothing at that signal', () => {
    const { signal } = new AbortController();
    const clock = new BudgetClock(limits(100), 0);
    for (let call = 0; call < 20; call++) {
      using _ = clock.deadline(signal);
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
