import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ObjectStore } from '../src/store/index.ts';
import {
  type FaultPlan,
  fakeKeys,
  fakeWires,
  researcher,
  type SeenRequest,
  startProviderServer,
  variablesFor,
} from './fakes/providers/index.ts';
import { holdsKey, ModelPlace, shortResearch } from './fixtures/model-place.ts';
import { describeInSandbox } from './fixtures/needs-sandbox.ts';

const place = new ModelPlace();
afterAll(() => place[Symbol.dispose]());

const everyModel = fakeWires.map(({ model }) => model).join(',');
const allKeys = Object.values(fakeKeys).join(' ');

/** Looks at its own environment, and at the environment and the command line of every process. */
const curious = `
import glob, os
print("own:", sorted(os.environ.items()))
for pattern in ("environ", "cmdline", "task/*/environ"):
    for path in sorted(glob.glob("/proc/[0-9]*/" + pattern)):
        try:
            print(path, open(path, "rb").read())
        except OSError as error:
            print(path, error)
print("looked at everybody")
`;

/** A model that runs the curious script, and one that records the key in its request. */
const spying = researcher(({ key }) => [
  { action: 'Write File', args: { file_name: 'curious.py', content: curious } },
  { action: 'Execute Script', args: { script_name: 'curious.py' } },
  { action: 'Write File', args: { file_name: 'notes.txt', content: `I was asked with ${key}.` } },
  ...shortResearch,
]);

describeInSandbox('the keys of providers', () => {
  beforeAll(async () => {
    await place.provision();
  });

  test('would be found in plain files, in compressed objects, and in base64', () => {
    const objects = new ObjectStore(join(place.experiments, 'planted/objects'));
    const key = Buffer.from(fakeKeys.OPENAI_API_KEY);
    objects.putText(`${'so compressible '.repeat(500)}${key}`);
    writeFileSync(join(place.experiments, 'planted/plain.txt'), `Basic ${key.toString('base64')}`);
    const found = place.filesWithKeys();
    rmSync(join(place.experiments, 'planted'), { recursive: true });
    expect(found.sort()).toEqual([expect.stringMatching(/objects.*\.zst$/), 'planted/plain.txt']);
  });

  test('are nowhere in an experiment whose models repeat them and whose scripts search for them', async () => {
    await using server = await startProviderServer({ answer: spying });
    const run = ['--agent', 'tools,research', '--model', everyModel, '--name', 'spies'];
    const { code, out, err } = await place.run(server, ...run);
    expect(code, err).toBe(0);
    const requests = server.requests.map(({ body }) => JSON.stringify(body));
    expect(new Set(server.requests.map(({ key }) => key))).toEqual(new Set(Object.values(fakeKeys)));
    expect(requests.some((body) => body.includes('looked at everybody'))).toBe(true);
    expect(requests.some((body) => body.includes('/proc/1/environ'))).toBe(true);
    expect(requests.some((body) => body.includes('I was asked with [key].'))).toBe(true);
    expect(requests.filter((body) => /_API_KEY|_BASE_URL/.test(body))).toEqual([]);
    expect(requests.filter(holdsKey)).toEqual([]);
    expect(holdsKey(out + err)).toBe(false);
    expect(place.filesWithKeys()).toEqual([]);
    const replay = await place.mlab({}, 'runs', 'replay', 'spies');
    expect(replay.out).toContain('10 runs replayed, 0 diverged');
  });

  test('are nowhere after an error that repeats them; it names the variable, and the runs resume once it is fixed', async () => {
    let isBroken = true;
    const faults: FaultPlan = (number) =>
      isBroken && number > 2
        ? { kind: 'status', status: 401, message: `wrong key, one of ${allKeys}` }
        : null;
    await using server = await startProviderServer({ answer: researcher(() => shortResearch), faults });
    const run = ['--agent', 'tools', '--model', everyModel, '--name', 'refused-keys'];
    const { code, out, err } = await place.run(server, ...run);
    expect(code).toBe(1);
    const variables = [
      ...['ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'MLAB_OPENAI_COMPATIBLE_API_KEY'],
      ...['OPENAI_API_KEY', 'OPENAI_API_KEY'],
    ];
    const ends = place.records('refused-keys').map(({ status, end }) => ({ status, ...end }));
    expect(ends).toEqual(
      variables.map((variable) => ({
        ...{ status: 'failed', reason: 'infrastructure_error', cause: 'unauthorised' },
        message: expect.stringContaining(variable),
      })),
    );
    for (const variable of variables) expect(out).toContain(variable);
    expect(holdsKey(out + err)).toBe(false);
    expect(place.filesWithKeys()).toEqual([]);

    isBroken = false;
    const asked = server.requests.length;
    const again = await place.run(server, ...run);
    expect(again.code, again.err).toBe(0);
    expect(place.records('refused-keys').map(({ end }) => end?.reason)).toEqual(
      variables.map(() => 'final_answer'),
    );
    // Three calls per run, minus the two that were answered before.
    expect(server.requests.length - asked).toBe(3 * variables.length - 2);
    const replay = await place.mlab({}, 'runs', 'replay', 'refused-keys');
    expect(replay.out).toContain('5 runs replayed, 0 diverged');
    expect(place.filesWithKeys()).toEqual([]);
  });

  test('that are missing are named by their variable, for each provider that a run needs, and nothing is started', async () => {
    await using server = await startProviderServer();
    const { OPENAI_API_KEY: _, ...variables } = variablesFor(server);
    const cases = [
      ['--model', 'openai/gpt-5-test'],
      ['--model', 'anthropic/claude-test-1,openai/gpt-5-test'],
      ['--model', 'anthropic/claude-test-1', '--fast-model', 'openai/gpt-5-test'],
    ];
    for (const models of cases) {
      const argv = ['run', '--task', 'sums', '--agent', 'research', ...models, '--name', 'no-key', '--json'];
      const { code, out, err } = await place.mlab(variables, ...argv);
      expect(code, err).toBe(3);
      expect(err).toContain('openai/gpt-5-test');
      expect(err).toContain('OPENAI_API_KEY');
      expect(JSON.parse(out)).toMatchObject({ error: { code: 'key_missing' } });
      expect(existsSync(join(place.experiments, 'no-key'))).toBe(false);
    }
    expect(server.requests).toEqual([]);
    const argv = ['run', '--task', 'sums', '--agent', 'tools', '--model', 'anthropic/claude-test-1'];
    const alone = await place.mlab(variables, ...argv, '--dry-run');
    expect(alone.code, alone.err).toBe(0);
  });

  test("of a user's own provider come from the variable in its settings", async () => {
    const answer = researcher(() => shortResearch);
    await using server = await startProviderServer({ answer });
    const file = join(place.folder, 'own.json');
    const own = { base_url: server.baseUrls['openai-compatible'], api_key_variable: 'GATEWAY_PASS' };
    const wanted = { name: 'own', tasks: ['sums'], agents: ['tools'], models: ['gateway/some-model'] };
    writeFileSync(file, JSON.stringify({ ...wanted, providers: { gateway: own } }));
    const without = await place.mlab({}, 'run', file);
    expect([without.code, without.err]).toEqual([3, expect.stringContaining('GATEWAY_PASS')]);
    const { code, err } = await place.mlab({ GATEWAY_PASS: fakeKeys.OPENAI_API_KEY }, 'run', file);
    expect(code, err).toBe(0);
    const keys = server.requests.map(({ key }: SeenRequest) => key);
    expect(new Set(keys)).toEqual(new Set([fakeKeys.OPENAI_API_KEY]));
    expect(place.filesWithKeys()).toEqual([]);
  });
});
