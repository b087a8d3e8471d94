import { describe, expect, it } from 'vitest';
import { faultsAtRandom, startProviderServer } from './index.ts';

const numbers = Array.from({ length: 5_000 }, (_, index) => index + 1);

describe('random faults', () => {
  it('affect the given share of requests, with every kind of fault', () => {
    const plan = faultsAtRandom(0.2, 7, [{ kind: 'cut' }, { kind: 'reset' }, { kind: 'empty-body' }]);
    const hit = numbers.flatMap((number) => plan(number)?.kind ?? []);
    expect(hit.length / numbers.length).toBeCloseTo(0.2, 1);
    for (const kind of ['cut', 'reset', 'empty-body'])
      expect(hit.filter((found) => found === kind).length / hit.length).toBeCloseTo(1 / 3, 1);
  });

  it('are the same for the same seed, and differ for another', () => {
    const kinds = (seed: number) => numbers.map((number) => faultsAtRandom(0.2, seed)(number));
    expect(kinds(1)).toEqual(kinds(1));
    expect(kinds(1)).not.toEqual(kinds(2));
  });
});

describe('a provider server', () => {
  const ask = (url: string) =>
    fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer a-key' },
      body: JSON.stringify({ model: 'llama', messages: [] }),
    });

  it('records every request, and the maximum number that was open at a time', async () => {
    await using server = await startProviderServer({ latencyMs: 50 });
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => ask(server.baseUrls['openai-compatible'])),
    );
    await Promise.all(replies.map((reply) => reply.text()));
    expect(server.requests).toHaveLength(12);
    expect(server.requests[0]).toMatchObject({
      number: 1,
      format: 'compatible',
      model: 'llama',
      key: 'a-key',
    });
    expect(server.peak).toBe(12);
    expect(server.faulty).toBe(0);
  });

  it('has its faults in order, then none', async () => {
    await using server = await startProviderServer({ faults: [{ kind: 'status', status: 503 }] });
    const statuses = [await ask(server.baseUrls.openai), await ask(server.baseUrls.openai)].map(
      ({ status }) => status,
    );
    expect(statuses).toEqual([503, 200]);
    expect(server.faulty).toBe(1);
  });

  it('answers 404 in HTML to a path that it does not know, as web servers do', async () => {
    await using server = await startProviderServer();
    const reply = await ask(server.url);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'text/html']);
  });
});
