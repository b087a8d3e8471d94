import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Quota } from './quota.ts';

function used(tokens: number) {
  return {
    input: tokens,
    cached_input: 0,
    cache_write: 0,
    output: 0,
    reasoning: 0,
    source: 'provider' as const,
  };
}

const signal = new AbortController().signal;

test('a call is allowed as long as its maximum fits', () => {
  const quota = new Quota({ of: 'this run', tokens: 100 });
  const first = quota.reserve({ tokens: 60, money: null });
  expect(first.kind).toBe('reserved');
  expect(quota.reserve({ tokens: 41, money: null })).toMatchObject({
    kind: 'exceeded',
    exceeded: 'tokens',
    message: 'this run may use 100 tokens; 40 are left, and the next call may need 41',
  });
  if (first.kind === 'reserved') first.reservation.settle({ usage: used(10), cost: null });
  expect(quota.left).toEqual({ tokens: 90, money: null });
  expect(quota.reserve({ tokens: 90, money: null }).kind).toBe('reserved');
});

test('what earlier sessions spent counts', () => {
  const quota = new Quota({ of: 'the experiment', money: 1, spent: { tokens: 5, money: 0.9 } });
  expect(quota.reserve({ tokens: 1, money: 0.2 })).toMatchObject({
    exceeded: 'money',
    message: 'the experiment may cost $1.00; $0.1000 is left, and the next call may cost $0.2000',
  });
  expect(quota.reserve({ tokens: 1, money: 0.05 }).kind).toBe('reserved');
});

test('a limit on money refuses a model with an unknown price, and says what to do', () => {
  const quota = new Quota({ of: 'this run', money: 1 });
  expect(quota.reserve({ tokens: 1, money: null })).toMatchObject({
    exceeded: 'money',
    message: expect.stringContaining('"prices" in the experiment file'),
  });
  expect(new Quota({ of: 'this run' }).reserve({ tokens: 1, money: null }).kind).toBe('reserved');
});

test('a reservation ends only once', () => {
  const quota = new Quota({ of: 'this run', tokens: 10 });
  const result = quota.reserve({ tokens: 10, money: null });
  if (result.kind !== 'reserved') throw new Error('it fits');
  result.reservation.settle({ usage: used(4), cost: null });
  result.reservation.settle({ usage: used(4), cost: null });
  result.reservation.release();
  expect(quota.spent).toEqual({ tokens: 4, money: 0 });
});

test('a call waits for calls in progress if only their reservations prevent it', async () => {
  const quota = new Quota({ of: 'the experiment', tokens: 100 });
  const first = quota.reserve({ tokens: 80, money: null });
  const second = quota.reserveWhenFree({ tokens: 80, money: null }, signal);
  if (first.kind === 'reserved') first.reservation.settle({ usage: used(10), cost: null });
  expect((await second).kind).toBe('reserved');
  expect((await quota.reserveWhenFree({ tokens: 91, money: null }, signal)).kind).toBe('exceeded');
});

test('waiting for the quota ends with the signal', async () => {
  const quota = new Quota({ of: 'the experiment', tokens: 100 });
  quota.reserve({ tokens: 80, money: null });
  const controller = new AbortController();
  const waiting = quota.reserveWhenFree({ tokens: 80, money: null }, controller.signal);
  controller.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
});

test('whatever calls begin and end in whatever order, the sum never exceeds the limits', () => {
  const call = fc.record({
    tokens: fc.nat(500),
    money: fc.double({ min: 0, max: 1, noNaN: true }),
    /** Which part of the estimate is used in the end; null: the call fails. */
    part: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    endsAt: fc.nat(40),
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 40 }), (calls) => {
      const limits = { tokens: 2000, money: 3 };
      const quota = new Quota({ of: 'this run', ...limits });
      const underWay: { end: () => void; at: number }[] = [];
      calls.forEach(({ tokens, money, part, endsAt }, time) => {
        const result = quota.reserve({ tokens, money });
        if (result.kind === 'reserved') {
          const { reservation } = result;
          const end = () =>
            part === null
              ? reservation.release()
              : reservation.settle({ usage: used(Math.floor(tokens * part)), cost: money * part });
          underWay.push({ end, at: time + endsAt });
        }
        for (const { end, at } of underWay) if (at === time) end();
      });
      for (const { end } of underWay) end();
      expect(quota.spent.tokens).toBeLessThanOrEqual(limits.tokens);
      expect(quota.spent.money).toBeLessThanOrEqual(limits.money + 1e-9);
    }),
  );
});
