import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fault, researcher, startProviderServer } from './fakes/providers/index.ts';
import { ModelPlace, shortResearch } from './fixtures/model-place.ts';
import { describeInSandbox } from './fixtures/needs-sandbox.ts';
import { until } from './fixtures/until.ts';

const place = new ModelPlace();
afterAll(() => {
  expect(place.filesWithKeys()).toEqual([]);
  place[Symbol.dispose]();
});

/** Faults that keep a client waiting for longer than any test lasts. */
const silences: [string, Fault][] = [
  ['before its headers', { kind: 'slow-headers', ms: 3_600_000 }],
  ['in the middle of a reply', { kind: 'stall' }],
  ['and has asked to wait', { kind: 'status', status: 429, headers: { 'retry-after': '1000' } }],
];
const model = ['--agent', 'research', '--model', 'anthropic/claude-test-1'];
/** The agent's three replies, and the summaries of its first two steps. */
const allCalls = 5;

/** The fourth request gets the fault. */
function startSilent(fault: Fault) {
  return startProviderServer({
    answer: researcher(() => shortResearch),
    faults: (number) => (number === 4 ? fault : null),
  });
}

describeInSandbox('a run whose provider is silent', () => {
  beforeAll(async () => {
    await place.provision();
  });

  test.each(silences)(
    '%s stops at once with exit code 130 on Ctrl-C, and resumes without repeating calls',
    async (_, fault) => {
      await using server = await startSilent(fault);
      const name = ['--name', `interrupted-${fault.kind}`];
      const started = place.startRun(server, ...model, ...name);
      await until('the fourth request is there', () => server.requests.length === 4);
      // So that an immediate answer has arrived.
      await sleep(200);
      started.process.kill('SIGINT');
      const { code, err } = await started.ended;
      expect([code, err]).toEqual([130, expect.stringContaining('stopping')]);
      expect(place.records(`interrupted-${fault.kind}`)).toMatchObject([
        { status: 'interrupted', pid: null },
      ]);

      const again = await place.run(server, ...model, ...name);
      expect(again.code, again.err).toBe(0);
      // Between two tries there is no request that could be cut off.
      const cut = fault.kind === 'status' ? [] : ['cut_off'];
      await expectCompleteRun(`interrupted-${fault.kind}`, [null, null, null, ...cut, null, null]);
      // Each call once, and the fourth twice.
      expect(server.requests).toHaveLength(allCalls + 1);
    },
  );

  test('resumes after kill -9 without repeating recorded calls', async () => {
    await using server = await startSilent({ kind: 'stall' });
    const started = place.startRun(server, ...model, '--name', 'killed');
    await until('the fourth request is there', () => server.requests.length === 4);
    started.process.kill('SIGKILL');
    await started.ended;
    const again = await place.run(server, ...model, '--name', 'killed');
    expect(again.code, again.err).toBe(0);
    expect(again.out).not.toContain('Not finished');
    await expectCompleteRun('killed');
    expect(server.requests).toHaveLength(allCalls + 1);
  });

  async function expectCompleteRun(name: string, failures: (string | null)[] = Array(allCalls).fill(null)) {
    expect(place.records(name)).toMatchObject([
      { status: 'finished', end: { reason: 'final_answer' }, steps: 3, spent: { calls: allCalls } },
    ]);
    expect(place.calls(name).map(({ call, failure }) => [call, failure?.failure ?? null])).toEqual(
      failures.map((failure, index) => [index + 1, failure]),
    );
    const replay = await place.mlab({}, 'runs', 'replay', name);
    expect([replay.code, replay.out]).toEqual([0, expect.stringContaining('0 diverged')]);
    const check = await place.mlab({}, 'runs', 'check', name);
    expect(check.code, check.out).toBe(0);
  }
});
