import { expect, test, vi } from 'vitest';
import { everyMinute } from './every-minute.ts';

test('long work is told of after each minute, until it ends', () => {
  vi.useFakeTimers();
  try {
    const minutes: number[] = [];
    {
      using _reminder = everyMinute((minute) => minutes.push(minute));
      vi.advanceTimersByTime(150_000);
    }
    vi.advanceTimersByTime(150_000);
    expect(minutes).toEqual([1, 2]);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
