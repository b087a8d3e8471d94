import { join } from 'node:path';
import { ModelGateway, ModelRegistry, Quota, ScriptedModels } from '../src/models/index.ts';
import type { ModelMessage, ModelRequest } from '../src/schema/index.ts';
import { startProviderServer, variablesFor } from '../test/fakes/providers/index.ts';
import { openBenchRun } from './bench-run.ts';
import { type BenchContext, type Benchmark, type Measurement, median } from './benchmark.ts';
import { provision } from './task-resources.ts';

/** Number of calls of one conversation that are measured: early ones, and as many late ones. */
const window = 40;
const observation = 'epoch 12: loss 0.4312, validation accuracy 0.8123, learning rate 0.001\n'.repeat(28);
const thought = 'The loss still falls, so that more epochs may help. I change the number and run it again.';

export const calls: Benchmark = {
  name: 'calls',
  summary:
    "the processor time of a model call, early and late in a conversation, and over a provider's server",
  async measure(context) {
    const late = context.quick ? 100 : 500;
    return [...(await inProcess(context, late)), ...(await overHttp(context))];
  },
};

/** A conversation like those of agents: each call repeats the last one, with the reply and its result. */
function* conversation(count: number): Generator<ModelRequest> {
  const messages: ModelMessage[] = [{ role: 'system', text: observation.repeat(2), stable: true }];
  for (let call = 1; call <= count; call++) {
    messages.push({ role: 'user', text: `Call ${call}:\n${observation}` });
    yield { role: 'agent', purpose: 'act', messages: [...messages] };
    messages.push({ role: 'assistant', text: thought });
  }
}

/** Answers without delay: what remains is the cost of the environment and the gateway. */
async function inProcess(context: BenchContext, late: number): Promise<Measurement[]> {
  const gateway = () =>
    new ModelGateway({ models: new ScriptedModels(() => thought), quota: new Quota({ of: 'this run' }) });
  await askAll(context, 'warm-up', gateway(), window);
  const costs = await askAll(context, 'long', gateway(), late);
  const early = median(costs.slice(0, window));
  const later = median(costs.slice(-window));
  const kilobytes = Math.round((late * observation.length) / 1000);
  const common = { unit: 'ms', atMost: null };
  return [
    {
      what: 'processor time of one of the first calls',
      value: early,
      ...common,
      note: `median of ${window}`,
    },
    {
      ...{ what: `processor time around call ${late}`, value: later, ...common },
      note: `median of ${window}; the conversation has ${kilobytes} kB`,
    },
    { what: 'late against early', value: later / early, unit: 'times', atMost: 5, note: '' },
  ];
}

async function overHttp(context: BenchContext): Promise<Measurement[]> {
  await using server = await startProviderServer({ answer: () => ({ text: thought }) });
  const model = 'openai-compatible/llama-test';
  const variables = variablesFor(server);
  const role = { model, temperature: null, max_output_tokens: 1000 };
  const registry = new ModelRegistry({ variables, folder: '/' });
  const roles = { agent: role, editor: role, fast: role };
  const gateway = () => registry.gateway(roles, { quota: new Quota({ of: 'this run' }) });
  await askAll(context, 'warm-up-http', gateway(), window);
  const costs = await askAll(context, 'http', gateway(), window);
  const [seen] = server.requests;
  if (seen === undefined) throw new Error('the server was not asked');
  const bare: number[] = [];
  for (const { path, body } of server.requests.slice(-window)) {
    const start = process.cpuUsage();
    const headers = { 'content-type': 'application/json' };
    const url = new URL(path, server.url);
    await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).text();
    bare.push(millisecondsSince(start));
  }
  return [
    {
      ...{ what: "call over a provider's server, beyond the bare request", unit: 'ms', atMost: null },
      ...{
        value: median(costs) - median(bare),
        note: `medians of ${window}; bare: ${median(bare).toFixed(2)} ms`,
      },
    },
  ];
}

/** Processor time, because elapsed time depends on other load of the machine. */
function millisecondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** The duration of each call of a conversation, in milliseconds. */
async function askAll(
  { scratch, cache, signal }: BenchContext,
  name: string,
  gateway: ModelGateway,
  count: number,
): Promise<number[]> {
  const resources = await provision(cache, signal);
  await using run = await openBenchRun({
    ...{ folder: join(scratch, name), sandbox: 'none', resources, gateway, signal },
  });
  const costs: number[] = [];
  for (const request of conversation(count)) {
    const start = process.cpuUsage();
    await run.environment.ask(request);
    costs.push(millisecondsSince(start));
  }
  return costs;
}
