import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakeKeys, type RawServer, startRawServer } from '../../../test/fakes/providers/index.ts';
import { examplePlan } from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/store/folders.ts';
import { ModelRegistry, roleSettings } from '../../models/index.ts';
import type { Job } from '../../schema/index.ts';
import { createExperiment, type Experiment } from '../../store/index.ts';
import { makeBranchPlan } from '../branch-plan.ts';
import { providersThrough, RunGateways, throughGateway } from './run-gateways.ts';

const reply = {
  ...{
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'x',
    stop_reason: 'end_turn',
    stop_sequence: null,
  },
  ...{ content: [{ type: 'text', text: 'Hello' }], usage: { input_tokens: 400, output_tokens: 100 } },
};
const tokensOfCall = 500;
const folder = temporaryFolder();
let server: RawServer;

beforeAll(async () => {
  server = await startRawServer(() => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    pieces: [JSON.stringify(reply)],
  }));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function listen(name: string, spend: { tokens?: number } = {}) {
  const models = ['anthropic/claude-a', 'anthropic/claude-b'];
  const plan = examplePlan();
  const runs = plan.runs.map((run, index) => {
    const model = models[index] ?? null;
    return { ...run, experiment: plan.name, model, roles: roleSettings(model, {}) ?? undefined };
  });
  const experiment = createExperiment(join(folder.path, name), { ...plan, runs });
  const providers = { anthropic: { base_url: `${server.url}/v1` } };
  const registry = new ModelRegistry({ providers, variables: fakeKeys, folder: '/' });
  return await listenTo(experiment, registry, spend);
}

async function listenTo(experiment: Experiment, registry: ModelRegistry, spend: { tokens?: number }) {
  const gateways = await RunGateways.listen({
    ...{ registry, experiment, spend, port: 0, tls: undefined, secret: 'a secret' },
    signal: new AbortController().signal,
  });
  const listenAgain = () => listenTo(experiment, registry, spend);
  const ask = (token: string, most = 100) =>
    fetch(`http://127.0.0.1:${gateways.port}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': token, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: 'any', max_tokens: most, messages: [{ role: 'user', content: 'Hi' }] }),
    });
  return { gateways, experiment, ask, listenAgain };
}

test('each run asks its own model with a token of its own; the key is put in here', async () => {
  const { gateways, experiment, ask } = await listen('own');
  await using _ = gateways;
  const before = server.requests.length;
  for (const run of experiment.plan.runs) {
    const answer = await ask(gateways.tokenOf(run));
    expect([answer.status, await answer.json()]).toEqual([200, reply]);
  }
  const asked = server.requests.slice(before);
  expect(asked.map(({ body }) => JSON.parse(String(body)).model)).toEqual(['claude-a', 'claude-b']);
  expect(JSON.stringify(asked.map(({ headers }) => headers))).toContain(fakeKeys.ANTHROPIC_API_KEY);
});

test('a branch that was begun later has a token, too', async () => {
  const { gateways: earlier, experiment, listenAgain } = await listen('branch');
  await earlier[Symbol.asyncDispose]();
  const [source] = experiment.plan.runs;
  if (source === undefined) throw new Error('the plan is empty');
  const asked = { name: null, approveLater: false, actor: 'somebody', mlab: '1' };
  const branch = experiment.addBranch(makeBranchPlan(source, { run: source.id, step: 1 }, asked));
  const { gateways, ask } = await listenAgain();
  await using _ = gateways;
  expect((await ask(gateways.tokenOf(branch.run))).status).toBe(200);
});

test('what is no token of a run is refused, and nothing is asked', async () => {
  const { gateways, ask } = await listen('refused');
  await using _ = gateways;
  const before = server.requests.length;
  for (const token of ['', 'x', gateways.tokenOf({ id: examplePlan().name as never })]) {
    const answer = await ask(token);
    expect(answer.status).toBe(401);
    await answer.text();
  }
  expect(server.requests.length).toBe(before);
});

test('what all runs may use together is counted here', async () => {
  const limit = 10_000;
  const { gateways, experiment, ask } = await listen('quota', { tokens: limit });
  await using _ = gateways;
  const statuses: number[] = [];
  for (let turn = 0; turn < 30; turn += 1) {
    const run = experiment.plan.runs[turn % 2];
    if (run === undefined) throw new Error('two runs');
    const answer = await ask(gateways.tokenOf(run));
    statuses.push(answer.status);
    await answer.text();
  }
  const answered = statuses.filter((status) => status === 200).length;
  expect(answered).toBeGreaterThan(2);
  expect(answered * tokensOfCall).toBeLessThanOrEqual(limit);
  expect(statuses.slice(answered)).toEqual(Array.from({ length: 30 - answered }, () => 400));
});

test('the same secret makes the same tokens, so that jobs go on when the gateway was started again', async () => {
  const first = await listen('again-1');
  const second = await listen('again-2');
  await using _first = first.gateways;
  await using _second = second.gateways;
  const [run] = first.experiment.plan.runs;
  if (run === undefined) throw new Error('the plan is empty');
  expect(first.gateways.tokenOf(run)).toBe(second.gateways.tokenOf(run));
});

test('providers are reached at the gateway, with its token in place of their keys; scripted ones stay as they are', () => {
  const providers = { mine: { kind: 'scripted' as const }, openai: { concurrent: 3 } };
  expect(providersThrough(providers, ['openai', 'google', 'mine'], 'http://gate:7/')).toEqual({
    mine: { kind: 'scripted' },
    openai: { concurrent: 3, base_url: 'http://gate:7/v1', api_key_variable: 'MLAB_GATEWAY_TOKEN' },
    google: { base_url: 'http://gate:7/v1', api_key_variable: 'MLAB_GATEWAY_TOKEN' },
  });
  expect(throughGateway({ run: {} } as Job, 'http://gate:7')).toEqual({ run: {} });
});
