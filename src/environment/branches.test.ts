import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replayOf, WorkspacePlace } from '../../test/fixtures/workspace-place.ts';
import { ScriptedModels } from '../models/index.ts';
import type { ModelRequest } from '../schema/index.ts';
import { branchesOf, historyOf, readSnapshot, stepsOf } from '../store/index.ts';
import type { Branch, Environment } from './environment.ts';

const write = (content: string, file_name = 'notes.txt') => ({
  name: 'Write File',
  args: { file_name, content },
});
const read = (file_name = 'notes.txt') => ({ name: 'Read File', args: { file_name } });
const asked = (text: string): ModelRequest => ({
  ...{ role: 'agent', purpose: 'act', messages: [{ role: 'user', text }] },
});

describe('a branch', () => {
  test('starts with the workspace of the step that it was forked at, and changes independently', async () => {
    await using place = await WorkspacePlace.open({ files: { 'notes.txt': 'zero\n' } });
    const { environment } = place;
    await environment.step(write('one\n'));
    await environment.step(write('two\n'));
    const [early, now, start] = await Promise.all([
      environment.fork(1),
      environment.fork(),
      environment.fork(0),
    ]);
    expect([early, now, start].map(({ id, origin }) => [id, origin])).toEqual([
      ['b1', { branch: 'main', step: 1 }],
      ['b2', { branch: 'main', step: 2 }],
      ['b3', { branch: 'main', step: 0 }],
    ]);
    expect(await early.step(read())).toMatchObject({ step: 2, observation: expect.stringContaining('one') });
    expect(await now.step(read())).toMatchObject({ step: 3, observation: expect.stringContaining('two') });
    expect(await start.step(read())).toMatchObject({ step: 1, observation: expect.stringContaining('zero') });
    await early.step(write('three\n'));
    const deeper = await early.fork();
    expect((await deeper.step(read())).observation).toContain('three');
    expect((await environment.step(read())).observation).toContain('two');
    expect(place.environment.stepsTaken).toBe(8);
    expect(branchesOf(place.events).branches.map(({ id, lastStep }) => [id, lastStep])).toEqual([
      ...[
        ['main', 3],
        ['b1', 3],
        ['b2', 3],
        ['b3', 1],
        ['b4', 4],
      ],
    ]);
  });

  test('undoes edits that were made before it was forked', async () => {
    await using place = await WorkspacePlace.open({ files: { 'notes.txt': 'zero\n' } });
    await place.environment.step(write('one\n'));
    const branch = await place.environment.fork();
    await branch.step({ name: 'Undo Edit Script', args: { script_name: 'notes.txt' } });
    expect((await branch.step(read())).observation).toContain('zero');
    expect((await place.environment.step(read())).observation).toContain('one');
  });

  test('cannot be forked at a step that it does not have, and the run continues', async () => {
    await using place = await WorkspacePlace.open();
    for (const at of [1, -1, 0.5])
      await expect(place.environment.fork(at)).rejects.toBeInstanceOf(RangeError);
    expect(await place.environment.step(write('one'))).toMatchObject({ status: 'ok' });
    expect(await (await place.environment.fork(1)).step(read())).toMatchObject({ status: 'ok' });
  });

  test('is refused once a run was forked ten thousand times, and the run continues', async () => {
    await using place = await WorkspacePlace.open();
    const { environment } = place;
    const asked = await Promise.allSettled(Array.from({ length: 10_000 }, () => environment.fork(-1)));
    expect(asked.filter(({ status }) => status === 'rejected')).toHaveLength(10_000);
    await expect(environment.fork()).rejects.toThrow('can be forked 10000 times');
    expect(await environment.step(write('one'))).toMatchObject({ status: 'ok' });
  });

  test('is graded if it is selected, and main if none is', async () => {
    await using place = await WorkspacePlace.open();
    const { environment } = place;
    await environment.step(write('main'));
    const branch = await environment.fork();
    await branch.step(write('branch'));
    const contentOf = async () => {
      const { branch: id, snapshot } = await environment.finalState();
      const entry = readSnapshot(place.objects, snapshot).entries.find(({ path }) => path === 'notes.txt');
      return [id, entry !== undefined && 'object' in entry ? place.objects.getText(entry.object) : null];
    };
    expect(await contentOf()).toEqual(['main', 'main']);
    environment.select(branch);
    expect(await contentOf()).toEqual(['b1', 'branch']);
    environment.select(environment);
    expect(await contentOf()).toEqual(['main', 'main']);
    environment.select(branch);
    expect(stepsOf(historyOf(place.events)).map(({ step }) => step)).toEqual([1, 2]);
  });

  test('shares the steps of the run with all others', async () => {
    await using place = await WorkspacePlace.open({ limits: { steps: 4 } });
    const { environment } = place;
    const branches = await Promise.all([environment.fork(), environment.fork(), environment.fork()]);
    const steps = [environment, ...branches, environment, ...branches].map((one) => one.step(write('x')));
    const results = await Promise.all(steps);
    expect(results.filter(({ status }) => status === 'ok')).toHaveLength(4);
    expect(results.filter(({ status }) => status === 'closed')).toHaveLength(4);
    expect(place.environment.ending?.reason).toBe('step_limit');
    const late = await environment.fork();
    expect(await late.step(write('x'))).toMatchObject({ status: 'closed' });
    environment.select(late);
    expect((await place.environment.finalState()).branch).toBe('main');
  });

  test('that is idle closes its workspace, and opens it again when it is needed', async () => {
    await using place = await WorkspacePlace.open();
    const branches: Branch[] = [];
    for (let index = 0; index < 20; index += 1) {
      const branch = await place.environment.fork();
      await branch.step(write(`of ${index}`));
      branches.push(branch);
    }
    for (const [index, branch] of branches.entries())
      expect((await branch.step(read())).observation).toContain(`of ${index}`);
  });

  test('of a resumed run that differs from its record is detected', async () => {
    await using place = await WorkspacePlace.open();
    const branch = await place.environment.fork();
    await branch.step(write('one'));
    await place.reopen();
    const again = await place.environment.fork();
    await expect(again.step(write('two'))).rejects.toThrow('At step 1 of branch b1');
    await place.reopen();
    await expect(place.environment.step(write('three'))).rejects.toThrow('a fork (b1) of main at step 0');
  });
});

/** The results that an agent got, in order; and what it should have read, where that differs from what it read. */
interface Recording {
  log: string[];
  wrong: string[];
}

/**
 * An agent of several concurrent workers. What each does next depends only on all results that the agent got so far; it
 * knows what every file of every branch should contain.
 */
async function search(environment: Environment, seed: number, workers: number, things: number) {
  const recording: Recording = { log: [], wrong: [] };
  const branches: Branch[] = [environment];
  const files = new Map<string, string>([['main 0', '']]);
  let left = things;
  const choose = (worker: number, many: number) =>
    createHash('sha256')
      .update(`${seed} ${worker} ${recording.log.join('\n')}`)
      .digest()
      .readUInt32BE() % many;
  const tell = (text: string) => recording.log.push(text);
  const act = async (branch: Branch, worker: number) => {
    const isWrite = choose(worker, 3) > 0;
    const content = `${seed} ${worker} ${recording.log.length}`;
    const result = await branch.step(isWrite ? write(content) : read());
    const before = files.get(`${branch.id} ${result.step - 1}`) ?? '';
    if (result.status !== 'closed') files.set(`${branch.id} ${result.step}`, isWrite ? content : before);
    if (!isWrite && result.status === 'ok' && !result.observation.includes(before))
      recording.wrong.push(`${branch.id} ${result.step}: ${result.observation}, not ${before}`);
    tell(`${branch.id} ${result.step} ${result.status} ${result.observation} ${result.ended}`);
  };
  const fork = async (from: Branch, worker: number) => {
    const at = [undefined, 0, 1, 2, 5][choose(worker, 5)];
    try {
      const branch = await from.fork(at);
      const { step = 0 } = branch.origin ?? {};
      // Until then it is the same history.
      for (let number = 0; number <= step; number += 1)
        files.set(`${branch.id} ${number}`, files.get(`${from.id} ${number}`) ?? '');
      branches.push(branch);
      tell(`${branch.id} from ${from.id} ${step}`);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      tell(error.message);
    }
  };
  const work = async (worker: number) => {
    while (left > 0) {
      left -= 1;
      const branch = branches[choose(worker, branches.length)] ?? environment;
      const what = choose(worker, 12);
      if (what < 6) await act(branch, worker);
      else if (what < 8) await fork(branch, worker);
      else if (what < 10) {
        const reply = await environment.ask(asked(`${worker} ${recording.log.length}`));
        tell(reply.kind === 'answered' ? reply.text : reply.kind);
      } else if (what < 11) environment.select(branch);
      else environment.note({ Thought: `${recording.log.length}` });
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return recording;
}

/** Each answer differs, and takes a while. */
function slowModels(): ScriptedModels {
  const scripted = new ScriptedModels((_, index) => `answer ${index}`);
  const answer = scripted.ask.bind(scripted);
  scripted.ask = async (request, options) => {
    await delay(Math.random() * 6);
    return answer(request, options);
  };
  return scripted;
}

describe('an agent that works on several branches at once', () => {
  const plans = fc.record({
    seed: fc.nat(),
    workers: fc.integer({ min: 1, max: 5 }),
    things: fc.integer({ min: 1, max: 30 }),
    steps: fc.constantFrom(5, 50),
    kills: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 3 }),
    gated: fc.boolean(),
  });

  test('does the same again when it is replayed, and when it is resumed after a kill at any moment', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async ({ seed, workers, things, steps, kills, gated }) => {
        const gate = async () => {
          await delay(Math.random() * 4);
          return { kind: 'allow' as const, actor: 'the test' };
        };
        const limits = { steps };
        await using place = await WorkspacePlace.open({
          ...{ models: slowModels(), limits },
          change: () => (gated ? { gate } : {}),
        });
        const live = () => search(place.environment, seed, workers, things);
        let told = await live();
        for (const share of kills) {
          expect(told.wrong).toEqual([]);
          const kept = 1 + Math.floor(share * (place.events.length - 1));
          const before = readFileSync(place.tracePath, 'utf8').split('\n').slice(0, kept);
          await place.killed(kept);
          const completions = place.events.filter(
            (event) =>
              event.kind === 'step_finished' ||
              event.kind === 'branch_forked' ||
              (event.kind === 'model_call' && event.answer !== null),
          ).length;
          const again = await live();
          const after = readFileSync(place.tracePath, 'utf8').split('\n');
          expect(after.slice(0, kept)).toEqual(before);
          // The results of refused forks are between them.
          const recorded = (log: string[]) => log.filter((text) => !/no step|closed/.test(text));
          expect(recorded(again.log).slice(0, completions)).toEqual(recorded(told.log).slice(0, completions));
          told = again;
        }
        expect(told.wrong).toEqual([]);
        const { reason, message } = place.environment.ending ?? { reason: 'agent_stopped', message: '' };
        const replay = replayOf(place, { ...place.limits }, { reason, message });
        const replayed = await search(replay, seed, workers, things);
        expect(replay.failure).toBeNull();
        expect(replayed.log).toEqual(told.log);
        expect(replay.missing).toBeNull();
      }),
      { numRuns: 40 },
    );
  }, 120_000);
});
