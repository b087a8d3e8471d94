import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  fakeWires,
  faultsAtRandom,
  passingFaults,
  startProviderServer,
  variablesFor,
} from '../../test/fakes/providers/index.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import type { ModelRequest, ModelRoles } from '../schema/index.ts';
import { type Clock, systemClock } from './clock.ts';
import { pingModel } from './ping.ts';
import { ModelRegistry } from './registry.ts';
import { roleSettings } from './role-settings.ts';

const signal = new AbortController().signal;
const request: ModelRequest = { role: 'agent', purpose: 'test', messages: [{ role: 'user', text: 'Hi' }] };
const folder = '/nowhere';

function rolesOf(model: string): ModelRoles {
  const roles = roleSettings(model);
  if (roles === null) throw new Error('a model was given');
  return roles;
}

/** The real time, a hundred times as fast. */
const fastClock: Clock = {
  now: () => 100 * systemClock.now(),
  sleep: (milliseconds, stop) => systemClock.sleep(milliseconds / 100, stop),
  random: systemClock.random,
};

describe('the check before a run', () => {
  test.each([
    ['anthropic/x', /^anthropic\/x is not usable\..*ANTHROPIC_API_KEY/],
    ['openai-compatible/x', /OpenAI-compatible server/],
    ['antropic/x', /no provider "antropic"\. Did you mean "anthropic"\?/],
    ['constructor/x', /no provider "constructor"/],
    ['scripted/none.yaml', /can't be read/],
  ])('%s: says what is missing', (model, message) => {
    const registry = new ModelRegistry({ variables: {}, folder });
    expect(() => registry.check(rolesOf(model))).toThrow(message);
  });

  test('considers only the providers that are used, and shows no key', () => {
    const registry = new ModelRegistry({
      providers: { broken: { kind: 'openai-compatible' } },
      variables: { ANTHROPIC_API_KEY: 'secret-key' },
      folder,
    });
    registry.check(rolesOf('anthropic/x'));
    const roles = {
      ...rolesOf('anthropic/x'),
      fast: { model: 'openai/y', temperature: null, max_output_tokens: 1 },
    };
    expect(() => registry.check(roles)).toThrow(/openai\/y is not usable.*OPENAI_API_KEY/);
    expect(JSON.stringify(registry.states())).not.toContain('secret-key');
    expect(registry.states().map(({ provider, usable }) => [provider, usable])).toContainEqual([
      'anthropic',
      true,
    ]);
    expect(registry.states().at(-1)?.provider).toBe('broken');
  });
});

describe('scripted models of an experiment', () => {
  test('start anew with each run, continue after earlier sessions, and are shared by the roles of a run', async () => {
    const place = temporaryFolder();
    writeFileSync(join(place, 'script.yaml'), '- one\n- role: fast\n  text: short\n- two\n');
    const registry = new ModelRegistry({
      providers: { play: { kind: 'scripted' } },
      variables: {},
      folder: place,
    });
    const roles = rolesOf('play/script.yaml');
    registry.check(roles);
    const [first, second] = [registry.forRun(roles), registry.forRun(roles)];
    const ask = async (models = first, role: ModelRequest['role'] = 'agent') => {
      const { answer } = await models.ask({ ...request, role }, { signal });
      return answer.kind === 'answered' ? answer.text : answer.kind;
    };
    expect(await ask(first)).toBe('one');
    expect(await ask(second)).toBe('one');
    expect(await ask(first, 'editor')).toBe('two');
    expect(await ask(first, 'fast')).toBe('short');
    await expect(ask(first)).rejects.toThrow(/no reply left/);
    const resumed = registry.forRun(roles, { answeredBy: ['play/script.yaml#1'] });
    expect(await ask(resumed)).toBe('two');
  });
});

describe('over the network', () => {
  test.each(fakeWires)('$model is called, counted and priced', async ({ model }) => {
    await using server = await startProviderServer({
      answer: () => ({ text: 'Hello.', usage: { input: 1000, output: 10 }, model: 'model-1' }),
    });
    const price = { input: 1, output: 100, date: '2026-01-01', source: 'test' };
    const registry = new ModelRegistry({
      prices: { [model]: price },
      variables: variablesFor(server),
      folder,
    });
    const models = registry.forRun(rolesOf(model));
    const estimate = models.estimate(request);
    const call = await models.ask(request, { signal });
    expect(call).toMatchObject({
      answer: { text: 'Hello.' },
      answeredBy: 'model-1',
      cost: 0.002,
      attempts: [],
    });
    expect(estimate.tokens).toBeGreaterThan(2000);
    expect(call.latencyMs).toBeGreaterThan(0);
  });

  test('what reaches a model is loaded once, before the first call, which says why it could not be', async () => {
    const connected: string[] = [];
    const connect = async (model: string): Promise<never> => {
      connected.push(model);
      throw new Error('no such package');
    };
    const registry = new ModelRegistry({ variables: {}, folder, connect });
    await registry.load(rolesOf('anthropic/x'));
    expect(connected).toEqual(['anthropic/x']);
    await expect(registry.forRun(rolesOf('anthropic/x')).ask(request, { signal })).rejects.toThrow(
      'no such package',
    );
    expect(connected).toEqual(['anthropic/x']);
  });

  test('a hundred concurrent runs share one limiter, and each gets its answer though every fifth request fails', async () => {
    // A model that is silent three times in a row has answered so.
    const faults = passingFaults.filter(({ kind }) => kind !== 'empty-answer');
    await using server = await startProviderServer({ faults: faultsAtRandom(0.2, 7, faults), latencyMs: 5 });
    const registry = new ModelRegistry({
      providers: { anthropic: { concurrent: 6, attempts: 20 } },
      variables: variablesFor(server),
      folder,
      clock: fastClock,
    });
    const calls = await Promise.all(
      Array.from({ length: 100 }, () => registry.forRun(rolesOf('anthropic/x')).ask(request, { signal })),
    );
    expect(calls.map(({ answer }) => answer.kind)).toEqual(Array(100).fill('answered'));
    expect(calls.reduce((failed, { attempts }) => failed + attempts.length, 0)).toBe(server.faulty);
    expect(server.peak).toBeLessThanOrEqual(6);
    expect(registry.limiter('anthropic').active).toBe(0);
  });

  test('a model that stays silent has answered with nothing, and all attempts are counted', async () => {
    await using server = await startProviderServer({ answer: () => ({ text: '' }) });
    const registry = new ModelRegistry({ variables: variablesFor(server), folder, clock: fastClock });
    const call = await registry.forRun(rolesOf('openai/x')).ask(request, { signal });
    expect(call).toMatchObject({ answer: { kind: 'answered', text: '' }, usage: { input: 300 } });
    expect(server.requests).toHaveLength(3);
  });

  test('a ping reports the answer, or what prevents it', async () => {
    await using server = await startProviderServer({ answer: () => ({ text: ' ready\n' }) });
    const registry = new ModelRegistry({ variables: variablesFor(server), folder });
    expect(await pingModel(registry, 'google/x', signal)).toMatchObject({ isAnswered: true, text: 'ready' });
    await using broken = await startProviderServer({ faults: [{ kind: 'status', status: 401 }] });
    const other = new ModelRegistry({ variables: variablesFor(broken), folder });
    expect(await pingModel(other, 'anthropic/x', signal)).toMatchObject({
      isAnswered: false,
      failure: 'unauthorised',
    });
    const keyless = new ModelRegistry({ variables: {}, folder });
    expect(await pingModel(keyless, 'openai/x', signal)).toMatchObject({
      isAnswered: false,
      failure: 'settings',
      message: expect.stringContaining('OPENAI_API_KEY'),
    });
  });

  test('a ping waits if the provider refuses because of its rate limit or load, like a call of a run', async () => {
    const faults = [429, 529].map((status) => ({ kind: 'status', status }) as const);
    await using server = await startProviderServer({ answer: () => ({ text: 'ready' }), faults });
    const registry = new ModelRegistry({ variables: variablesFor(server), folder, clock: fastClock });
    const refusals: string[] = [];
    const ping = await pingModel(registry, 'anthropic/x', signal, (line) => refusals.push(line));
    expect(ping).toMatchObject({ isAnswered: true, text: 'ready' });
    expect(refusals.map((line) => line.replace(/:.*/, ''))).toEqual(['rate_limited', 'overloaded']);
  });
});
