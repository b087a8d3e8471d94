import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import {
  fakeWires,
  type ProviderServer,
  researcher,
  type SeenRequest,
  startProviderServer,
  variablesFor,
} from './fakes/providers/index.ts';
import { ModelPlace, shortResearch } from './fixtures/model-place.ts';
import { describeInSandbox } from './fixtures/needs-sandbox.ts';

const place = new ModelPlace();
afterAll(() => place[Symbol.dispose]());

const everyModel = fakeWires.map(({ model }) => model);

const Report = z.object({
  runs: z.array(
    z.object({
      run: z.string(),
      agent: z.string(),
      status: z.string(),
      end: z.object({ reason: z.string() }),
      tokens: z.number(),
      score: z.number(),
    }),
  ),
});

/** The server's counts for each agent on each model, by `agent(model)` as in reports. */
class Bill {
  readonly tokens = new Map<string, number>();

  /** Each reply has a different usage, so that a wrong sum is noticed. */
  charge(request: SeenRequest) {
    const { number, format, model } = request;
    const provider = { anthropic: 'anthropic', responses: 'openai', chat: 'openai', google: 'google' };
    const name = format === 'compatible' ? 'openai-compatible' : provider[format];
    const agent = JSON.stringify(request.body).includes('Final_Answer') ? 'tools' : 'research';
    const usage = { input: 1000 + number ** 2, cachedInput: 300, output: 40 + number, reasoning: 7 };
    const key = `${agent}(${name}/${model})`;
    this.tokens.set(key, (this.tokens.get(key) ?? 0) + usage.input + usage.output);
    return { usage };
  }
}

function startResearcher(bill: Bill): Promise<ProviderServer> {
  return startProviderServer({
    answer: researcher(
      () => shortResearch,
      (request) => bill.charge(request),
    ),
  });
}

async function reported(experiment: string) {
  const { out } = await place.mlab({}, 'report', experiment, '--json');
  return Report.parse(JSON.parse(out)).runs;
}

describeInSandbox('mlab run with models behind local servers', () => {
  beforeAll(async () => {
    await place.provision();
  });

  test.each([true, false])(
    'agents get a grade with every provider, with its token counts and its key, stream: %s',
    async (isStreaming) => {
      const bill = new Bill();
      const name = `stream-${isStreaming}`;
      const file = join(place.folder, `${name}.json`);
      const settings = { stream: isStreaming };
      const providers = {
        ...{ anthropic: settings, openai: settings, google: settings, 'openai-compatible': settings },
      };
      const agents = ['tools', 'research'];
      writeFileSync(file, JSON.stringify({ name, agents, models: everyModel, providers, parallel: 2 }));
      {
        await using server = await startResearcher(bill);
        const { code, err } = await place.run(server, file);
        expect(err).not.toMatch(/retry|tried/);
        expect(code, err).toBe(0);
        expect(new Set(server.requests.map((request) => request.isStreaming))).toEqual(
          new Set([isStreaming]),
        );
        for (const { format, key } of fakeWires) {
          const keys = server.requests.filter((request) => request.format === format).map(({ key }) => key);
          expect(new Set(keys), format).toEqual(new Set([key]));
        }
      }
      const runs = await reported(name);
      expect(runs).toHaveLength(agents.length * everyModel.length);
      expect(new Map(runs.map(({ agent, tokens }) => [agent, tokens]))).toEqual(bill.tokens);
      const ended = { status: 'finished', end: { reason: 'final_answer' }, score: 4.5 };
      for (const run of runs) expect(run).toMatchObject(ended);
      expect(place.calls(name).every(({ usage }) => usage.source === 'provider')).toBe(true);

      const replay = await place.mlab({}, 'runs', 'replay', name);
      expect([replay.code, replay.out]).toEqual([0, expect.stringContaining('10 runs replayed, 0 diverged')]);
    },
  );

  test('a model that refuses, and one whose context is full, end their runs with that reason', async () => {
    await using server = await startProviderServer({
      answer: ({ model }) => ({ finish: model === 'claude-refusing' ? 'refused' : 'context_full' }),
    });
    const models = 'anthropic/claude-refusing,anthropic/claude-full';
    for (const agent of ['tools', 'research']) {
      await place.run(server, '--agent', agent, '--model', models, '--name', `ends-${agent}`);
      const ends = place.records(`ends-${agent}`).map(({ status, end }) => [status, end?.reason]);
      expect(ends).toEqual([
        ['finished', 'context_limit'],
        ['finished', 'refused'],
      ]);
    }
  });

  test('models --ping reports which models answered, without any key', async () => {
    await using server = await startProviderServer();
    const answered = await place.mlab(variablesFor(server), 'models', '--ping', ...everyModel);
    expect(answered.code, answered.err).toBe(0);
    for (const model of everyModel) expect(answered.out).toContain(model);
    const keys = fakeWires.map(({ key }) => key).join(' ');
    await using refusing = await startProviderServer({
      faults: () => ({ kind: 'status', status: 401, message: `these keys are bad: ${keys}` }),
    });
    const { code, out, err } = await place.mlab(variablesFor(refusing), 'models', '--ping', ...everyModel);
    expect(code).toBe(1);
    for (const { model, key } of fakeWires) {
      expect(out).toContain(`✗ ${model} (unauthorised)`);
      expect(out + err).not.toContain(key);
    }
  });
});
