import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../test/fakes/virtual-clock.ts';
import { AcquireTimedOut, CallLimiter } from './limiter.ts';

const never = new AbortController().signal;

function minutes(count: number): number {
  return count * 60_000;
}

describe('the limiter', () => {
  test('admits calls in the order of their requests, up to its capacity', async () => {
    const clock = new VirtualClock();
    const limiter = new CallLimiter({ concurrent: 2, clock });
    const begun: number[] = [];
    const call = async (name: number) => {
      const slot = await limiter.acquire(never);
      begun.push(name);
      await clock.sleep(100 - name);
      slot.end('answered');
    };
    await clock.run(Promise.all([0, 1, 2, 3, 4, 5].map(call)));
    expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('halves its capacity once for a burst of refusals, and raises it again with answers', async () => {
    const clock = new VirtualClock();
    const limiter = new CallLimiter({ concurrent: 8, clock });
    const acquire = (count: number) =>
      clock.run(Promise.all(Array.from({ length: count }, () => limiter.acquire(never))));
    for (const slot of await acquire(8)) slot.end('limited');
    expect(limiter.capacity).toBe(4);
    for (const slot of await acquire(4)) slot.end('answered');
    expect(limiter.capacity).toBe(5);
    for (let round = 0; round < 20; round++) for (const slot of await acquire(4)) slot.end('answered');
    expect(limiter.capacity).toBe(8);
  });

  test('never lets its capacity fall below one', async () => {
    const clock = new VirtualClock();
    const limiter = new CallLimiter({ concurrent: 3, clock });
    for (let round = 0; round < 5; round++) (await clock.run(limiter.acquire(never))).end('limited');
    expect(limiter.capacity).toBe(1);
  });

  test('pauses all calls as long as the provider asked, otherwise for longer and longer', async () => {
    const clock = new VirtualClock();
    const limiter = new CallLimiter({ concurrent: 8, clock });
    const pauses: number[] = [];
    for (const retryAfter of [5000, null, 0, 100]) {
      const slot = await clock.run(limiter.acquire(never));
      slot.end('limited', retryAfter);
      const before = clock.now();
      const next = await clock.run(limiter.acquire(never));
      pauses.push(clock.now() - before);
      next.end('other');
    }
    expect(pauses).toEqual([5000, 2000, 4000, 8000]);
  });

  test('gives up if a provider asks to wait longer than the call may', async () => {
    const clock = new VirtualClock();
    const limiter = new CallLimiter({ concurrent: 1, clock });
    (await limiter.acquire(never)).end('limited', minutes(25));
    const timeout = { since: clock.now(), milliseconds: minutes(20) };
    await expect(limiter.acquire(never, timeout)).rejects.toThrow(AcquireTimedOut);
    await clock.run(clock.sleep(minutes(6)));
    await clock.run(limiter.acquire(never, { milliseconds: minutes(20) }));
  });

  test('pauses for half an hour at most, however long the provider asks to wait', async () => {
    const clock = new VirtualClock();
    const limiter = new CallLimiter({ concurrent: 1, clock });
    (await limiter.acquire(never)).end('limited', Number.POSITIVE_INFINITY);
    await clock.run(limiter.acquire(never, { milliseconds: minutes(30) }));
    expect(clock.now()).toBe(minutes(30));
  });

  test('does not give up only because the queue is long', async () => {
    const clock = new VirtualClock();
    const limiter = new CallLimiter({ concurrent: 1, clock });
    const call = async () => {
      const slot = await limiter.acquire(never, { since: 0, milliseconds: minutes(30) });
      await clock.sleep(minutes(10));
      slot.end('answered');
    };
    await clock.run(Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(call)));
    expect(clock.now()).toBe(minutes(80));
  });

  test('begins no more calls in a minute than it may', async () => {
    for (const [perMinute, calls, total] of [
      [3, 7, minutes(2)],
      [0.5, 3, minutes(4)],
    ] as const) {
      const clock = new VirtualClock();
      const limiter = new CallLimiter({ concurrent: 8, requestsPerMinute: perMinute, clock });
      for (let call = 0; call < calls; call++) (await clock.run(limiter.acquire(never))).end('answered');
      expect(clock.now()).toBe(total);
    }
  });

  test('removes only the call that is aborted, whether it is in the queue or has its turn', async () => {
    const clock = new VirtualClock();
    const limiter = new CallLimiter({ concurrent: 1, clock });
    const slot = await limiter.acquire(never);
    const [atDoor, inQueue] = [new AbortController(), new AbortController()];
    const first = limiter.acquire(atDoor.signal);
    const second = limiter.acquire(inQueue.signal);
    const third = limiter.acquire(never);
    inQueue.abort(new Error('second stopped'));
    await expect(second).rejects.toThrow('second stopped');
    atDoor.abort(new Error('first stopped'));
    await expect(first).rejects.toThrow('first stopped');
    slot.end('answered');
    (await third).end('answered');
    expect([limiter.active, limiter.waiting]).toEqual([0, 0]);
    await expect(limiter.acquire(AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
  });

  test('stays within its cap and pace and admits everybody, whatever ends, times and aborts occur', async () => {
    const call = fc.record({
      comesAt: fc.nat(5000),
      lasts: fc.nat(3000),
      end: fc.constantFrom('answered', 'limited', 'failed', 'other'),
      retryAfter: fc.option(fc.nat(4000)),
      abortedAfter: fc.option(fc.nat(6000), { freq: 4 }),
    });
    const options = fc.record({
      concurrent: fc.integer({ min: 1, max: 6 }),
      requestsPerMinute: fc.option(fc.integer({ min: 1, max: 30 })),
    });
    await fc.assert(
      fc.asyncProperty(options, fc.array(call, { maxLength: 30 }), async (limits, calls) => {
        const clock = new VirtualClock();
        const limiter = new CallLimiter({ ...limits, clock });
        const begun: number[] = [];
        let active = 0;
        const results = await clock.run(
          Promise.allSettled(
            calls.map(async ({ comesAt, lasts, end, retryAfter, abortedAfter }) => {
              await clock.sleep(comesAt);
              const controller = new AbortController();
              const abort = async () => {
                if (abortedAfter === null) return;
                await clock.sleep(abortedAfter);
                controller.abort(new Error('aborted'));
              };
              const aborting = abort();
              const slot = await limiter.acquire(controller.signal);
              begun.push(clock.now());
              active += 1;
              expect(active).toBeLessThanOrEqual(limits.concurrent);
              await clock.sleep(lasts);
              active -= 1;
              slot.end(end, retryAfter);
              await aborting;
            }),
          ),
        );
        for (const [index, result] of results.entries())
          if (result.status === 'rejected') {
            expect(result.reason).toEqual(new Error('aborted'));
            expect(calls[index]?.abortedAfter).not.toBeNull();
          }
        const { requestsPerMinute: pace } = limits;
        if (pace !== null)
          begun.forEach((time, index) => {
            const before = begun[index - pace];
            if (before !== undefined) expect(time - before).toBeGreaterThanOrEqual(minutes(1));
          });
        expect([limiter.active, limiter.waiting]).toEqual([0, 0]);
        expect(limiter.capacity).toBeGreaterThanOrEqual(1);
        expect(limiter.capacity).toBeLessThanOrEqual(limits.concurrent);
      }),
    );
  });
});
