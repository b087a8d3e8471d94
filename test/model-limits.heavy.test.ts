import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Deed, researcher, startProviderServer } from './fakes/providers/index.ts';
import { ModelPlace, shortResearch } from './fixtures/model-place.ts';
import { describeInSandbox } from './fixtures/needs-sandbox.ts';

const place = new ModelPlace();
afterAll(() => place[Symbol.dispose]());

/** The reported usage of each reply: the most that the first requests can use. */
const usage = { input: 20_000, output: 100 };
const tokensOfCall = usage.input + usage.output;
const name = 'openai-compatible/llama-test';
const model = ['--agent', 'tools', '--model', name];
/** In US dollars per million tokens: a call costs 2.01 dollars. */
const price = { input: 100, output: 100, date: '2026-01-01', source: 'made up' };
const moneyOfCall = (tokensOfCall * price.input) / 1e6;
const endless: readonly Deed[] = Array.from({ length: 100 }, () => ({
  action: 'List Files',
  args: { dir_path: '.' },
}));

function startServer(deeds: readonly Deed[]) {
  return startProviderServer({
    answer: researcher(
      () => deeds,
      () => ({ usage }),
    ),
  });
}

function lastMessage(body: unknown): string {
  return [...JSON.stringify(body).matchAll(/Remaining budget: ([^\]\\]*)/g)].at(-1)?.[1] ?? '';
}

describeInSandbox('limits on language models', () => {
  beforeAll(async () => {
    await place.provision();
  });

  test('--tokens ends a run before the call that could exceed it, and the agent sees what is left', async () => {
    await using server = await startServer(endless);
    const { code, err } = await place.run(server, ...model, '--tokens', '130000', '--name', 'tokens');
    expect(code, err).toBe(0);
    const [record] = place.records('tokens');
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'token_limit' } });
    const calls = server.requests.length;
    expect(calls).toBeGreaterThan(2);
    expect(record?.spent).toMatchObject({ calls, tokens: calls * tokensOfCall });
    expect(calls * tokensOfCall).toBeLessThanOrEqual(130_000);
    expect(place.calls('tokens')).toHaveLength(calls);
    expect(lastMessage(server.requests.at(-1)?.body)).toMatch(/token/);
  });

  test('--money ends a run before the call that could exceed it, by the prices of the experiment file', async () => {
    await using server = await startServer(endless);
    const file = join(place.folder, 'money.json');
    writeFileSync(file, JSON.stringify({ tasks: ['sums'], prices: { [name]: price } }));
    const { code, err } = await place.run(
      server,
      file,
      ...model,
      '--money',
      '13',
      '--yes',
      '--name',
      'money',
    );
    expect(code, err).toBe(0);
    const [record] = place.records('money');
    expect(record).toMatchObject({ status: 'finished', end: { reason: 'money_limit' } });
    const calls = server.requests.length;
    expect(calls).toBeGreaterThan(2);
    expect(record?.spent).toMatchObject({ calls, unpriced: 0 });
    expect(record?.spent?.money).toBeCloseTo(calls * moneyOfCall, 9);
    expect(calls * moneyOfCall).toBeLessThanOrEqual(13);
    expect(lastMessage(server.requests.at(-1)?.body)).toMatch(/\$/);
  });

  test('--money with a model of unknown price is refused before anything is created', async () => {
    await using server = await startServer(endless);
    const { code, err } = await place.run(server, ...model, '--money', '13', '--name', 'unpriced');
    expect([code, err]).toEqual([2, expect.stringContaining('its price is unknown')]);
    expect(existsSync(join(place.experiments, 'unpriced'))).toBe(false);
    expect(server.requests).toEqual([]);
  });

  test('--experiment-tokens stops runs beyond the limit, which resume when it is raised', async () => {
    await using server = await startServer(shortResearch);
    const run = [...model, '--seeds', '3', '--parallel', '3', '--name', 'shared'];
    const all = 3 * shortResearch.length;
    const limit = (all - 2) * tokensOfCall;
    const { code, out } = await place.run(server, ...run, '--experiment-tokens', String(limit));
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('with a larger --experiment-money or --experiment-tokens'),
    ]);
    const stopped = place.records('shared').filter(({ status }) => status === 'failed');
    expect(stopped.length).toBeGreaterThan(0);
    for (const { end } of stopped)
      expect(end).toMatchObject({ reason: 'infrastructure_error', cause: 'experiment_limit' });
    expect(server.requests.length * tokensOfCall).toBeLessThanOrEqual(limit);

    // The recorded usage counts, so the same limit lets no call through.
    const asked = server.requests.length;
    await place.run(server, ...run, '--experiment-tokens', String(limit));
    expect(server.requests).toHaveLength(asked);

    const raised = await place.run(server, ...run, '--experiment-tokens', String(2 * limit));
    expect(raised.code, raised.err).toBe(0);
    expect(server.requests).toHaveLength(all);
    const ends = place.records('shared').map(({ end, spent }) => [end?.reason, spent?.tokens]);
    expect(ends).toEqual(Array(3).fill(['final_answer', shortResearch.length * tokensOfCall]));
  });

  test('runs that a limit ended replay without a difference', async () => {
    for (const experiment of ['tokens', 'money', 'shared']) {
      const { code, out } = await place.mlab({}, 'runs', 'replay', experiment);
      expect([code, out]).toEqual([0, expect.stringContaining(' 0 diverged')]);
    }
  });
});
