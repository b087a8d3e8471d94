import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTurns, startProviderServer } from '../../../test/fakes/providers/index.ts';
import { ModelPlace } from '../../../test/fixtures/model-place.ts';
import { describeInSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import { notesIn, smallAgent, turnsIn } from '../../../test/fixtures/outside/outside-place.ts';
import { archivedAttempts, checkRun, openExperiment, readTraceSync } from '../../store/index.ts';

const place = new ModelPlace();
afterAll(() => place[Symbol.dispose]());

/** This word in its command distinguishes it from all other processes of this machine. */
const word = `killed-${process.pid}`;
const models = ['--model', 'openai/gpt-test', '--fast-model', 'openai/gpt-test-mini'];
const agent = ['--agent', `command:python ${smallAgent} ${word}`, ...models];

describeInSandbox('a run of a program whose harness is killed', () => {
  beforeAll(async () => {
    await place.provision();
  });

  test('archives its work as an attempt, starts over, and leaves no process behind', async () => {
    const script = inTurns({
      turns: [{ run: 'echo one > one.txt' }, { run: 'python train.py' }, { text: 'Done.' }],
    });
    await using server = await startProviderServer({
      answer: script,
      // The first request is for a title; the answer to the third turn only comes when it is requested again.
      faults: (number) => (number === 4 ? { kind: 'stall' } : null),
    });
    const started = place.startRun(server, ...agent, '--name', 'killed');
    while (server.requests.length < 4) await sleep(10);
    const folder = () => openExperiment(join(place.experiments, 'killed'));
    const [id = ''] = folder().runIds;
    const run = folder().runFolder(id);
    started.process.kill('SIGKILL');
    await started.ended;
    expect(readTraceSync(run.tracePath).events.at(-1)?.kind).not.toBe('run_ended');
    await vanished(word);

    const again = await place.run(server, ...agent, '--name', 'killed');
    expect(again.code, again.err).toBe(0);
    expect(run.readRecord()).toMatchObject({ status: 'finished', end: { reason: 'final_answer' } });
    expect(turnsIn(run).map(({ args }) => JSON.stringify(args))).toEqual([
      expect.stringContaining('echo one'),
      expect.stringContaining('train.py'),
      expect.stringContaining('Done.'),
    ]);
    const attempts = archivedAttempts(run);
    expect(attempts.map((attempt) => turnsIn(attempt).length)).toEqual([2]);
    for (const one of [run, ...attempts]) expect(await checkRun(one)).toEqual([]);
    expect(run.readGrades().grades.filter(({ final }) => final)).toHaveLength(1);
    const callsOf = ({ tracePath }: typeof run) =>
      readTraceSync(tracePath).events.filter(({ kind }) => kind === 'model_call').length;
    // The cost of the interrupted call is unknown.
    expect([...attempts, run].map(callsOf)).toEqual([3, 4]);
  });

  test('continues with its own session if it has one, in its workspace as it was after its last step', async () => {
    const first = { run: 'echo one > one.txt' };
    const cutOff = inTurns({ turns: [first, { run: 'rm one.txt; sleep 1000' }] });
    const goesOn = inTurns({ turns: [first, { run: 'cat one.txt; python train.py' }, { text: 'Done.' }] });
    let answer = cutOff;
    await using server = await startProviderServer({ answer: (request) => answer(request) });
    const [flag = '', program = '', ...model] = agent;
    const flags = [flag, `${program} session`, ...model, '--name', 'continued'];
    const started = place.startRun(server, ...flags);
    // A title and two turns.
    while (server.requests.length < 3) await sleep(10);
    const experiment = openExperiment(join(place.experiments, 'continued'));
    const run = experiment.runFolder(experiment.runIds[0] ?? '');
    while (existsSync(join(run.folder, 'workspace/one.txt'))) await sleep(10);
    started.process.kill('SIGKILL');
    await started.ended;
    await vanished(word);

    answer = goesOn;
    const again = await place.run(server, ...flags);
    expect(again.code, again.err).toBe(0);
    expect(run.readRecord()).toMatchObject({ status: 'finished', steps: 3, end: { reason: 'final_answer' } });
    expect(turnsIn(run).map(({ observation }) => observation.split('\n')[0])).toEqual(['', 'one', '']);
    expect(notesIn(run)).toContainEqual(['Continued', expect.stringContaining('after step 1')]);
    expect(archivedAttempts(run)).toEqual([]);
    expect(existsSync(join(run.folder, 'agent-session'))).toBe(false);
    expect(await checkRun(run)).toEqual([]);
    expect(run.readGrades().grades.filter(({ final }) => final)).toMatchObject([{ valid: true }]);
    // The title (again, unless the session had it already), the turn, the interrupted one, and two more: each is paid for
    // once.
    const calls = readTraceSync(run.tracePath).events.filter(({ kind }) => kind === 'model_call');
    expect([5, 6]).toContain(calls.length);
    expect(run.readRecord()?.spent).toMatchObject({ calls: calls.length });
  });
});

/** Waits until no process has this word among its arguments. */
async function vanished(word: string): Promise<void> {
  const lives = () =>
    readdirSync('/proc').some((pid) => {
      try {
        return (
          /^\d+$/.test(pid) &&
          Number(pid) !== process.pid &&
          readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word)
        );
      } catch {
        return false;
      }
    });
  for (let tries = 0; lives() && tries < 6_000; tries += 1) await sleep(10);
  expect(lives()).toBe(false);
}
