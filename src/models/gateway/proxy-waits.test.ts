import { expect, test } from 'vitest';
import { fakeKeys } from '../../../test/fakes/providers/index.ts';
import { VirtualClock } from '../../../test/fakes/virtual-clock.ts';
import { postTo, testedProxy } from '../../../test/fixtures/proxy-place.ts';
import { ModelRegistry } from '../registry.ts';
import { roleSettings } from '../role-settings.ts';

const minutes = (count: number) => count * 60_000;

/** The gateway before a provider whose first two calls are still under way, with a clock of its own. */
async function busyProvider() {
  const clock = new VirtualClock();
  const providers = { openai: { base_url: 'http://127.0.0.1:9/v1', concurrent: 2 } };
  const registry = new ModelRegistry({ providers, variables: fakeKeys, folder: '/', clock });
  const limiter = registry.limiter('openai');
  const never = new AbortController().signal;
  const slots = [await limiter.acquire(never), await limiter.acquire(never)] as const;
  const roles = roleSettings('openai/gpt-4o', {});
  if (roles === null) throw new Error('there are no roles without a model');
  const proxy = { upstream: registry.upstream(roles), silenceMs: 20 };
  return { ...(await testedProxy(() => ({ pieces: [] }), { proxy })), clock, limiter, slots };
}

test.each([
  ['with its status', false, 429, /^{"error":{"message":"openai: the provider takes no calls for another/],
  [
    'in a stream that has begun',
    true,
    200,
    /^(: waiting\n\n)+event: error\ndata: {"error":{"message":"openai: /,
  ],
])(
  'a call is told of a rate limit, and free of charge, if it waited half an hour for one: %s',
  async (_, stream, status, text) => {
    const { url, clock, limiter, slots, records } = await busyProvider();
    slots[0].end('limited', minutes(1_440));
    const asked = postTo(url, '/v1/chat/completions', { model: 'gpt-4o', messages: [], stream });
    await expect.poll(() => limiter.waiting).toBe(1);
    if (stream) await asked;
    await clock.run(clock.sleep(minutes(10)));
    slots[1].end('limited', minutes(1_440));
    await clock.run(clock.sleep(minutes(25)));
    const reply = await asked;
    expect([reply.status, await reply.text()]).toEqual([status, expect.stringMatching(text)]);
    expect(records).toMatchObject([
      {
        ...{ answer: null, failure: { failure: 'rate_limited' }, usage: { input: 0, output: 0 }, cost: 0 },
        wire: { status, response: '' },
      },
    ]);
    expect([limiter.active, limiter.waiting]).toEqual([0, 0]);
  },
);
