import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type ProviderServer, startProviderServer, variablesFor } from '../../test/fakes/providers/index.ts';
import { type PlaceOptions, WorkspacePlace } from '../../test/fixtures/workspace-place.ts';
import {
  type LanguageModels,
  ModelGateway,
  ModelRegistry,
  type ModelRegistryOptions,
  ModelUnavailable,
  Quota,
  type QuotaOptions,
  ScriptedModels,
} from '../models/index.ts';
import type { Limits, ModelRequest, TokenUsage, TraceEventOf } from '../schema/index.ts';
import { spentOf } from '../store/index.ts';
import { ExperimentQuotaUsed } from './model-access.ts';
import { ReplayDiverged } from './replay-differences.ts';

const ask = (text: string): ModelRequest => ({
  role: 'agent',
  purpose: 'act',
  messages: [{ role: 'user', text }],
});
const price = { input: 1, output: 10, date: '2026-11-01', source: 'a test' };
const noUsage: TokenUsage = {
  ...{ input: 0, cached_input: 0, cache_write: 0, output: 0, reasoning: 0, source: 'estimate' },
};
const usage = { input: 1000, cached_input: 600, output: 100, reasoning: 40 };

function placeWith(
  models: LanguageModels,
  options: {
    own?: Partial<QuotaOptions>;
    shared?: Partial<QuotaOptions> | Quota;
    limits?: Partial<Limits>;
    signal?: AbortSignal;
  } = {},
): Promise<WorkspacePlace> {
  const change: PlaceOptions['change'] = (before) => ({
    models: {
      gateway: new ModelGateway({
        models,
        quota: new Quota({ of: 'this run', ...options.own }),
        shared: sharedOf(options.shared),
      }),
      spentBefore: before.models?.spentBefore ?? { calls: 0, tokens: 0, money: 0, unpriced: 0 },
    },
  });
  const { limits = {}, signal = new AbortController().signal } = options;
  return WorkspacePlace.open({ change, limits, signal });
}

function sharedOf(shared: Partial<QuotaOptions> | Quota | undefined): Quota | null {
  if (shared === undefined || shared instanceof Quota) return shared ?? null;
  return new Quota({ of: 'the experiment', ...shared });
}

function calls(place: WorkspacePlace): TraceEventOf<'model_call'>[] {
  return place.events.filter((event) => event.kind === 'model_call');
}

describe('a call of a language model', () => {
  test("is one event with its caller, request, the provider's token counts, its cost and every attempt", async () => {
    const models = new ScriptedModels(
      [{ fails: { failure: 'overloaded', message: 'busy' } }, { text: 'List the files.', usage }],
      { price },
    );
    await using place = await placeWith(models);
    const answer = await place.environment.ask(ask('What next?'));
    expect(answer).toMatchObject({ kind: 'answered', text: 'List the files.' });
    const [call, ...others] = calls(place);
    expect(others).toEqual([]);
    expect(call).toMatchObject({
      ...{ call: 1, step: null, role: 'agent', purpose: 'act', model: 'scripted/script', failure: null },
      messages: [{ text: '{"role":"user","text":"What next?"}' }],
      usage: { ...usage, cache_write: 0, source: 'provider' },
      attempts: [{ failure: 'overloaded' }],
    });
    expect(call?.cost).toBeCloseTo((1000 * 1 + 100 * 10) / 1e6);
    expect(place.environment.spent).toMatchObject({ calls: 1, tokens: 1100, unpriced: 0 });
  });

  test('is recorded also where the run has no observer', async () => {
    const gateway = new ModelGateway({
      models: new ScriptedModels(['one']),
      quota: new Quota({ of: 'this run' }),
    });
    const spentBefore = { calls: 0, tokens: 0, money: 0, unpriced: 0 };
    await using place = await WorkspacePlace.open({
      change: () => ({ models: { gateway, spentBefore }, onProgress: undefined }),
    });
    await place.environment.ask(ask('What next?'));
    expect(calls(place)).toHaveLength(1);
    expect(place.environment.spent.calls).toBe(1);
  });

  test('reduces the budget, which the next step reports', async () => {
    const models = new ScriptedModels([{ text: 'Go on.', usage }], { price });
    const limits = { tokens: 50_000, money: 1 };
    await using place = await placeWith(models, { limits });
    await place.environment.ask(ask('What next?'));
    const { budget } = await place.step('Check Budget');
    expect(budget.tokens_left).toBe(48_900);
    expect(budget.money_left).toBeCloseTo(0.998);
  });

  test('that does not fit into what is left ends the run before it is made', async () => {
    const models = new ScriptedModels([{ text: 'never asked' }], { price });
    await using place = await placeWith(models, { own: { tokens: 1000 }, limits: { tokens: 1000 } });
    expect(await place.environment.ask(ask('What next?'))).toMatchObject({ kind: 'closed' });
    expect(models.requests).toEqual([]);
    expect(place.environment.ending).toMatchObject({ reason: 'token_limit' });
    expect(await place.step('List Files', { dir_path: '.' })).toMatchObject({
      status: 'closed',
      ended: true,
    });

    await using poor = await placeWith(models, { own: { money: 0.001 }, limits: { money: 0.001 } });
    await poor.environment.ask(ask('What next?'));
    expect(poor.environment.ending).toMatchObject({ reason: 'money_limit' });
  });

  test("beyond the experiment's limits stops the run as an infrastructure failure", async () => {
    const models = new ScriptedModels([{ text: 'never asked' }]);
    await using place = await placeWith(models, { shared: { tokens: 10 } });
    await expect(place.environment.ask(ask('What next?'))).rejects.toBeInstanceOf(ExperimentQuotaUsed);
    expect(place.environment.failure).not.toBeNull();
    expect(models.requests).toEqual([]);
  });

  test('that no model answers is recorded as a failure, and no agent can continue after it', async () => {
    const models = new ScriptedModels([{ fails: { failure: 'quota_exhausted', message: 'no money left' } }]);
    await using place = await placeWith(models);
    await expect(place.environment.ask(ask('What next?'))).rejects.toBeInstanceOf(ModelUnavailable);
    expect(calls(place)).toMatchObject([{ answer: null, failure: { failure: 'quota_exhausted' } }]);
    await expect(place.step('List Files', { dir_path: '.' })).rejects.toBeInstanceOf(ModelUnavailable);
  });

  test('is aborted when the time of the run is up', async () => {
    const silent = new ScriptedModels(['never']);
    silent.ask = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await using place = await placeWith(silent, { limits: { wall_seconds: 0.3 } });
    expect(await place.environment.ask(ask('What next?'))).toMatchObject({ kind: 'closed' });
    expect(place.environment.ending).toMatchObject({ reason: 'time_limit' });
  });

  test('that is cut off by the time limit or by a stop is recorded and charged as far as it got', async () => {
    for (const isStopped of [false, true]) {
      await using server = await startProviderServer({
        faults: [{ kind: 'stall' }],
        answer: () => ({ text: 'a reply of several pieces that never comes to its end' }),
      });
      const model = 'anthropic/claude-test-1';
      const variables = variablesFor(server);
      const registry = new ModelRegistry({ variables, folder: '/', prices: { [model]: price } });
      const role = { model, temperature: null, max_output_tokens: 1000 };
      const models = registry.forRun({ agent: role, editor: role, fast: role });
      const shared = new Quota({ of: 'the experiment' });
      const stop = new AbortController();
      await using place = await placeWith(models, {
        limits: { wall_seconds: isStopped ? 60 : 3, tokens: 100_000 },
        shared,
        signal: stop.signal,
      });
      const asked = place.environment.ask(ask('What next, of all that can be done?'));
      asked.catch(() => {});
      await expect.poll(() => server.requests.length, { timeout: 30_000 }).toBe(1);
      if (isStopped) setTimeout(() => stop.abort(new Error('Ctrl-C')), 300);
      if (isStopped) await expect(asked).rejects.toThrow('Ctrl-C');
      else expect(await asked).toMatchObject({ kind: 'closed' });
      const [call, ...others] = calls(place);
      expect(others).toEqual([]);
      expect(call).toMatchObject({
        answer: null,
        failure: { failure: 'cut_off' },
        usage: { source: 'estimate' },
      });
      const { input, output } = call?.usage ?? { input: 0, output: 0 };
      expect(input).toBe(12);
      expect(output).toBeGreaterThan(0);
      expect(call?.latency_ms).toBeGreaterThan(200);
      const money = (input * price.input + output * price.output) / 1e6;
      expect(place.environment.spent).toEqual({
        ...{ calls: 0, tokens: input + output, money, unpriced: 0, estimated: input + output },
      });
      expect(spentOf(place.events)).toEqual(place.environment.spent);
      expect(shared.spent).toEqual({ tokens: input + output, money });
    }
  });

  test('that no model answers is charged as far as its attempts got', async () => {
    const charge = { usage: { ...noUsage, input: 30, output: 12 }, cost: 0.5 };
    const models = new ScriptedModels(['never']);
    models.ask = () =>
      Promise.reject(new ModelUnavailable('connection', 'the connection failed', 'wait', [], charge));
    const shared = new Quota({ of: 'the experiment' });
    await using place = await placeWith(models, { shared });
    await expect(place.environment.ask(ask('What next?'))).rejects.toBeInstanceOf(ModelUnavailable);
    expect(calls(place)).toMatchObject([{ answer: null, failure: { failure: 'connection' }, ...charge }]);
    expect(shared.spent).toEqual({ tokens: 42, money: 0.5 });
  });

  test('takes none of the time of the run while it waits for the provider', async () => {
    const slow = new ScriptedModels([{ text: 'at last' }]);
    const answer = slow.ask.bind(slow);
    slow.ask = async (request, options) => {
      await delay(400);
      return { ...(await answer(request, options)), waitingMs: 390, latencyMs: 10 };
    };
    await using place = await placeWith(slow);
    await place.environment.ask(ask('What next?'));
    expect(calls(place)).toMatchObject([{ waiting_ms: 390, latency_ms: 10 }]);
    expect(place.environment.secondsUsed).toBeLessThan(0.35);
  });

  test('does not end a run by its time limit while it waits in the queue of its provider', async () => {
    await using server = await startProviderServer({ latencyMs: 600 });
    const models = modelsOf(server, { anthropic: { concurrent: 1 } });
    const limits = { wall_seconds: 0.9 };
    await using first = await placeWith(models, { limits });
    await using second = await placeWith(models, { limits });
    const answers = await Promise.all(
      [first, second].map((place) => place.environment.ask(ask('What next?'))),
    );
    expect(answers).toMatchObject([{ kind: 'answered' }, { kind: 'answered' }]);
    expect(second.environment.secondsUsed).toBeLessThan(0.9);
    expect(calls(second)[0]?.waiting_ms).toBeGreaterThan(500);
  });

  test('that is tried again for longer than the run may take does not end it by its time limit', async () => {
    const busy = { kind: 'status', status: 503, headers: { 'retry-after-ms': '700' } } as const;
    await using server = await startProviderServer({ faults: [busy, busy] });
    await using place = await placeWith(modelsOf(server, {}), { limits: { wall_seconds: 0.6 } });
    expect(await place.environment.ask(ask('What next?'))).toMatchObject({ kind: 'answered' });
    expect(place.environment.secondsUsed).toBeLessThan(0.6);
    expect(calls(place)[0]?.attempts).toHaveLength(2);
  });
});

function modelsOf(
  server: ProviderServer,
  providers: NonNullable<ModelRegistryOptions['providers']>,
): LanguageModels {
  const registry = new ModelRegistry({ variables: variablesFor(server), folder: '/', providers });
  const role = { model: 'anthropic/claude-test-1', temperature: null, max_output_tokens: 1000 };
  return registry.forRun({ agent: role, editor: role, fast: role });
}

describe('a resumed run', () => {
  test('gets the recorded answers again, and calls models only for new requests', async () => {
    const models = new ScriptedModels(['one', 'two', 'three']);
    await using place = await placeWith(models);
    const first = await place.environment.ask(ask('first'));
    await place.step('List Files', { dir_path: '.' });
    const second = await place.environment.ask(ask('second'));
    await place.reopen();
    expect(await place.environment.ask(ask('first'))).toEqual(first);
    await place.step('List Files', { dir_path: '.' });
    expect(await place.environment.ask(ask('second'))).toEqual(second);
    expect(models.requests).toHaveLength(2);
    expect(await place.environment.ask(ask('third'))).toMatchObject({ text: 'three' });
    expect(calls(place).map(({ call }) => call)).toEqual([1, 2, 3]);
  });

  test('records only what a call adds to its conversation, also after it was resumed', async () => {
    const models = new ScriptedModels(['one', 'two', 'three']);
    await using place = await placeWith(models);
    const texts = ['first', 'second', 'third', 'fourth'];
    const said = texts.map((text) => ({ role: 'user' as const, text }));
    const conversation = (from: number, to: number): ModelRequest => ({
      ...ask(''),
      messages: said.slice(from, to),
    });
    await place.environment.ask(conversation(0, 1));
    await place.environment.ask(conversation(0, 3));
    await place.reopen();
    await place.environment.ask(conversation(0, 1));
    await place.environment.ask(conversation(0, 3));
    await place.environment.ask(conversation(1, 4));
    const [one, two, three, four] = said.map((message) => ({ text: JSON.stringify(message) }));
    expect(calls(place).map(({ messages }) => messages)).toEqual([
      [one],
      [{ call: 1, from: 0, count: 1 }, two, three],
      [{ call: 2, from: 1, count: 2 }, four],
    ]);
  });

  test('is stopped where the request differs, with the place of the first difference', async () => {
    const models = new ScriptedModels(['one']);
    await using place = await placeWith(models);
    await place.environment.ask(ask('the learning rate is 0.1'));
    await place.reopen();
    const other = place.environment.ask(ask('the learning rate is 0.2'));
    await expect(other).rejects.toThrow(/model call 1 \(act\).*message 1.*from character \d+ on.*0\.1.*0\.2/);
    await expect(other).rejects.toBeInstanceOf(ReplayDiverged);
  });

  test('is stopped where the agent acts instead of asking, or asks instead of acting', async () => {
    const models = new ScriptedModels(['one', 'two']);
    await using place = await placeWith(models);
    await place.environment.ask(ask('first'));
    await place.step('List Files', { dir_path: '.' });
    await place.reopen();
    await expect(place.step('List Files', { dir_path: '.' })).rejects.toThrow('the agent acted without it');
    await place.reopen();
    await place.environment.ask(ask('first'));
    await expect(place.environment.ask(ask('more'))).rejects.toThrow('where the trace has step 1');
  });
});
