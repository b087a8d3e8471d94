import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../test/fakes/virtual-clock.ts';
import type { FailedAttempt, ModelFailure, TokenUsage } from '../schema/index.ts';
import { askWithRetries } from './ask-with-retries.ts';
import { ModelUnavailable } from './language-models.ts';
import { CallLimiter } from './limiter.ts';
import {
  type ProviderAdapter,
  ProviderError,
  type ProviderReply,
  type ProviderRequest,
} from './provider-adapter.ts';

const never = new AbortController().signal;
const request: ProviderRequest = {
  messages: [{ role: 'user', text: 'hello' }],
  tools: [],
  stop: [],
  temperature: null,
  maxOutputTokens: 100,
};

interface Try {
  lasts?: number;
  text?: string;
  finish?: 'stop' | 'length';
  fails?: ModelFailure;
  isLasting?: boolean;
  retryAfterMs?: number;
  /** Tokens of input that the failed try is charged with. */
  charged?: number;
}

function reply(text: string, finish: 'stop' | 'length' = 'stop'): ProviderReply {
  return { answer: { kind: 'answered', text, tool_calls: [], finish }, answeredBy: null, usage: null };
}

function charged(input: number): TokenUsage {
  return { input, cached_input: 0, cache_write: 0, output: 0, reasoning: 0, source: 'estimate' };
}

/** A model whose attempts have these outcomes; the last outcome repeats forever. */
function adapterOf(clock: VirtualClock, tries: readonly Try[]): ProviderAdapter & { calls: number } {
  return {
    calls: 0,
    async call(_request, signal) {
      const next = tries[Math.min(this.calls, tries.length - 1)] ?? {};
      this.calls += 1;
      await clock.sleep(next.lasts ?? 100, signal);
      if (next.fails === undefined) return reply(next.text ?? 'hi', next.finish);
      throw new ProviderError(next.fails, `it is ${next.fails}`, {
        isPassing: next.isLasting !== true,
        retryAfterMs: next.retryAfterMs ?? null,
        hint: 'do something',
        usage: next.charged === undefined ? null : charged(next.charged),
      });
    },
  };
}

function set(tries: readonly Try[], { attempts = 8, concurrent = 8 } = {}) {
  const clock = new VirtualClock();
  const limiter = new CallLimiter({ concurrent, clock });
  const adapter = adapterOf(clock, tries);
  const retried: FailedAttempt[] = [];
  const paid: TokenUsage[] = [];
  const ask = (signal = never) =>
    clock.run(
      askWithRetries(
        request,
        { adapter, limiter, clock, attempts, paid },
        { signal, onRetry: (failed) => retried.push(failed) },
      ),
    );
  return { clock, limiter, adapter, retried, paid, ask };
}

async function failure(promise: Promise<unknown>): Promise<ModelUnavailable> {
  const error = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof ModelUnavailable)) throw error;
  return error;
}

describe('asking', () => {
  test('does not wait if the first attempt is answered', async () => {
    const { ask } = set([{ lasts: 250 }]);
    expect(await ask()).toEqual({
      reply: reply('hi'),
      latencyMs: 250,
      waitingMs: 0,
      attempts: [],
    });
  });

  test('retries transient failures after growing random delays, recorded separately from the answer', async () => {
    const { ask, retried } = set([
      { fails: 'connection' },
      { fails: 'timed_out', lasts: 5000 },
      { fails: 'malformed' },
      {},
    ]);
    const { latencyMs, waitingMs, attempts } = await ask();
    expect(attempts.map(({ failure, waited_ms }) => [failure, waited_ms])).toEqual([
      ['connection', 500],
      ['timed_out', 1000],
      ['malformed', 2000],
    ]);
    expect([latencyMs, waitingMs]).toEqual([100, 100 + 500 + 5000 + 1000 + 100 + 2000]);
    expect(retried).toEqual(attempts);
  });

  test('waits as long as the provider asked, whatever the backoff', async () => {
    const { ask, clock } = set([{ fails: 'rate_limited', retryAfterMs: 17_000 }, {}]);
    const { attempts } = await ask();
    expect(attempts[0]?.waited_ms).toBe(17_000);
    expect(clock.now()).toBe(100 + 17_000 + 100);
  });

  test('waits longer than the provider asked, if that is no time', async () => {
    const { ask, clock, retried } = set([{ fails: 'rate_limited', retryAfterMs: 0 }], { attempts: 8 });
    await expect(ask()).rejects.toThrow('tried 8 times');
    expect(retried).toHaveLength(7);
    expect(clock.now()).toBeGreaterThan(10_000);
  });

  test('ends the call at once on permanent failures, and says what to do', async () => {
    const { ask, adapter, retried } = set([{ fails: 'unauthorised', isLasting: true }, {}]);
    const error = await failure(ask());
    expect([error.failure, error.message, error.hint]).toEqual([
      'unauthorised',
      'it is unauthorised',
      'do something',
    ]);
    expect(error.attempts).toHaveLength(1);
    expect([adapter.calls, retried]).toEqual([1, []]);
  });

  test('ends after the allowed number of attempts', async () => {
    const { ask, adapter } = set([{ fails: 'overloaded' }], { attempts: 4 });
    const error = await failure(ask());
    expect([error.failure, error.attempts.length, adapter.calls]).toEqual(['overloaded', 4, 4]);
    expect(error.message).toBe('it is overloaded (tried 4 times)');
  });

  test('says so if it is asked to wait for longer than it may', async () => {
    const error = await failure(set([{ fails: 'rate_limited', retryAfterMs: 3_600_000 }]).ask());
    expect([error.message, error.hint]).toEqual([
      'it is rate_limited: it asks to wait 60 minutes, and a call waits 30 minutes at most',
      'Run the same command later.',
    ]);
  });

  test('ends before it would have waited longer than half an hour in all', async () => {
    const { ask, clock } = set([{ fails: 'rate_limited', retryAfterMs: 20 * 60_000 }]);
    const error = await failure(ask());
    expect(error.attempts.map(({ waited_ms }) => waited_ms)).toEqual([20 * 60_000, 0]);
    expect(clock.now()).toBeLessThan(30 * 60_000);
  });

  test('retries an empty answer; a model that stays silent has answered with nothing', async () => {
    const once = set([{ text: ' \n' }, { text: 'now' }]);
    const asked = await once.ask();
    expect(asked.reply).toEqual(reply('now'));
    expect(once.paid).toMatchObject([{ output: 1 }, { output: 1 }]);
    expect(asked.attempts).toMatchObject([
      { failure: 'malformed', message: 'the model answered with nothing' },
    ]);
    const silent = set([{ text: '' }]);
    expect((await silent.ask()).reply).toEqual(reply(''));
    expect(silent.adapter.calls).toBe(3);
  });

  test('charges an attempt that broke off in the middle, with an answer and without one', async () => {
    const broken: Try = { fails: 'connection', charged: 7 };
    const once = set([broken, { fails: 'overloaded' }, {}]);
    await once.ask();
    expect(once.paid).toMatchObject([{ input: 7 }, { input: 2, output: 1 }]);
    const never = set([broken, { fails: 'quota_exhausted', isLasting: true }]);
    await failure(never.ask());
    expect(never.paid).toMatchObject([{ input: 7 }]);
  });

  test('accepts an answer that was cut off before its first word', async () => {
    const { ask, adapter } = set([{ text: '', finish: 'length' }]);
    expect((await ask()).attempts).toEqual([]);
    expect(adapter.calls).toBe(1);
  });

  test('holds no slot while it waits between attempts', async () => {
    const { clock, limiter } = set([]);
    const slow = adapterOf(clock, [{ fails: 'connection', retryAfterMs: 60_000 }, {}]);
    const quick = adapterOf(clock, [{}]);
    const one = new CallLimiter({ concurrent: 1, clock });
    const parts = { limiter: one, clock, attempts: 8, paid: [] };
    const ended: string[] = [];
    const ask = async (name: string, adapter: ProviderAdapter) => {
      await askWithRetries(request, { adapter, ...parts }, { signal: never });
      ended.push(name);
    };
    await clock.run(Promise.all([ask('slow', slow), ask('quick', quick)]));
    expect(ended).toEqual(['quick', 'slow']);
    expect(limiter.active).toBe(0);
  });

  test('aborts the attempt or the wait with the reason of the signal, and frees the slot', async () => {
    for (const [tries, after] of [
      [[{ lasts: 10_000 }], 50],
      [[{ fails: 'connection' as const, retryAfterMs: 10_000 }], 500],
    ] as const) {
      const { ask, clock, limiter } = set(tries);
      const controller = new AbortController();
      const aborting = clock.sleep(after).then(() => controller.abort(new Error('the run was stopped')));
      await expect(ask(controller.signal)).rejects.toThrow('the run was stopped');
      await aborting;
      expect([limiter.active, limiter.waiting]).toEqual([0, 0]);
    }
  });

  test('passes on an error that is not a failure of the provider, and frees the slot', async () => {
    const { clock, limiter } = set([]);
    const adapter: ProviderAdapter = { call: () => Promise.reject(new TypeError('a bug')) };
    const asking = askWithRetries(
      request,
      { adapter, limiter, clock, attempts: 8, paid: [] },
      { signal: never },
    );
    await expect(asking).rejects.toThrow(TypeError);
    expect(limiter.active).toBe(0);
  });

  test('ends each of a hundred concurrent calls, whatever fails, and never exceeds the cap', async () => {
    const outcome = fc.constantFrom<Try>(
      {},
      {},
      {},
      { lasts: 30 },
      { text: '' },
      { fails: 'rate_limited' },
      { fails: 'rate_limited', retryAfterMs: 3000 },
      { fails: 'overloaded' },
      { fails: 'connection', lasts: 1 },
      { fails: 'timed_out', lasts: 120_000 },
      { fails: 'quota_exhausted', isLasting: true },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(outcome, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 100 }),
        fc.integer({ min: 1, max: 8 }),
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        async (calls, concurrent, chance) => {
          const clock = new VirtualClock(() => chance.next().value ?? 0);
          const limiter = new CallLimiter({ concurrent, clock });
          let active = 0;
          const ask = (tries: Try[]) => {
            const inner = adapterOf(clock, tries);
            const adapter: ProviderAdapter = {
              async call(asked, signal) {
                active += 1;
                expect(active).toBeLessThanOrEqual(concurrent);
                try {
                  return await inner.call(asked, signal);
                } finally {
                  active -= 1;
                }
              },
            };
            return askWithRetries(
              request,
              { adapter, limiter, clock, attempts: 8, paid: [] },
              { signal: never },
            );
          };
          const results = await clock.run(Promise.allSettled(calls.map(ask)));
          for (const result of results)
            if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(ModelUnavailable);
          expect([limiter.active, limiter.waiting]).toEqual([0, 0]);
        },
      ),
      { numRuns: 30 },
    );
  });
});
