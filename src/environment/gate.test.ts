import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { replayOf, WorkspacePlace } from '../../test/fixtures/workspace-place.ts';
import type { Action } from '../schema/index.ts';
import { stepsOf } from '../store/index.ts';
import type { Environment } from './environment.ts';
import type { Gate, GateDecision, ProposedAction } from './gate.ts';
import { RunWaits } from './gate-waits.ts';

const actor = 'Ada';
const write = (content: string): Action => ({
  name: 'Write File',
  args: { file_name: 'notes.txt', content },
});
const read: Action = { name: 'Read File', args: { file_name: 'notes.txt' } };

async function openGated(decide: (proposed: ProposedAction) => GateDecision | Promise<GateDecision>) {
  const proposals: ProposedAction[] = [];
  const gate: Gate = (proposed) => {
    proposals.push(proposed);
    return decide(proposed);
  };
  return { place: await WorkspacePlace.open({ change: () => ({ gate }) }), proposals };
}

const kinds = (place: WorkspacePlace) => place.events.map(({ kind }) => kind);

/** A replay compares only what the agent wrote. */
async function expectReplay(place: WorkspacePlace, act: (environment: Environment) => Promise<unknown>) {
  const replay = replayOf(place);
  const result = await act(replay);
  expect(replay.missing).toBeNull();
  return result;
}

describe('the gate of a run', () => {
  test('is asked about valid actions only, and what it allows is performed', async () => {
    const { place, proposals } = await openGated(() => ({ kind: 'allow', actor }));
    await using _place = place;
    expect(await place.environment.step(write('one'))).toMatchObject({ status: 'ok' });
    expect(await place.step('Read File', {})).toMatchObject({ status: 'invalid' });
    expect(proposals).toMatchObject([{ branch: 'main', step: 1, ...write('one') }]);
    expect(proposals[0]?.obstacleTo?.(read)).toBeNull();
    expect(proposals[0]?.obstacleTo?.({ name: 'Read Fil', args: {} })).toContain('Read Fil');
    expect(kinds(place).slice(1, 5)).toEqual([
      ...['action_proposed', 'action_decided', 'step_started', 'step_finished'],
    ]);
  });

  test('denies with a reason, which the agent gets', async () => {
    const { place } = await openGated(({ name }) =>
      name === 'Write File' ? { kind: 'deny', actor, reason: 'Write nothing.' } : { kind: 'allow', actor },
    );
    await using _place = place;
    const act = async (environment: Environment) => [
      await environment.step(write('one')),
      await environment.step(read),
    ];
    const result = await act(place.environment);
    const observation = 'Your action was not performed: Ada denied it. Write nothing.';
    expect(result).toMatchObject([{ step: 1, status: 'refused', observation }, { status: 'failed' }]);
    expect(await expectReplay(place, act)).toEqual(result);
  });

  test('replaces an action by another one, and the agent learns which', async () => {
    const { place } = await openGated(({ args }) =>
      args.content === 'one' ? { kind: 'replace', actor, action: write('two') } : { kind: 'allow', actor },
    );
    await using _place = place;
    const act = async (environment: Environment) => [
      await environment.step(write('one')),
      await environment.step(read),
    ];
    const result = await act(place.environment);
    expect(result[0]?.observation).toMatch(/^\[Ada replaced your action.*Write File .*two/);
    expect(result[1]?.observation).toContain('two');
    const [first] = stepsOf(place.events);
    expect(first?.started.args).toEqual({ text: JSON.stringify(write('one').args) });
    expect(await expectReplay(place, act)).toEqual(result);
  });

  test('ends the run with its own final answer, and not with one that it replaced', async () => {
    const final: Action = { name: 'Final Answer', args: { final_answer: 'done' } };
    const { place } = await openGated(({ name }) => ({
      ...{ kind: 'replace', actor, action: name === 'Final Answer' ? write('not yet') : final },
    }));
    await using _place = place;
    const act = async (environment: Environment) => [
      await environment.step(final),
      await environment.step(write('more')),
    ];
    const result = await act(place.environment);
    expect(result.map(({ ended }) => ended)).toEqual([false, true]);
    expect(place.environment.ending).toMatchObject({ reason: 'final_answer', finalAnswer: 'done' });
    expect(await expectReplay(place, act)).toEqual(result);
  });

  test('lets a person take over, whose steps are in the trace with their name, until they hand back', async () => {
    const theirs: (Action | null)[] = [write('by Ada'), { name: 'Read File', args: {} }, null];
    const { place } = await openGated(({ step }) =>
      step === 2
        ? { kind: 'take_over', actor, next: async () => theirs.shift() ?? null }
        : { kind: 'allow', actor: 'policy' },
    );
    await using _place = place;
    const act = async (environment: Environment) => [
      await environment.step(write('one')),
      await environment.step(write('two')),
      await environment.step(read),
    ];
    const result = await act(place.environment);
    expect(result).toMatchObject([
      { step: 1, status: 'ok' },
      { step: 4, status: 'refused', observation: expect.stringContaining('by Ada') },
      { step: 5, status: 'ok', observation: expect.stringContaining('by Ada') },
    ]);
    const actors = stepsOf(place.events).map(({ started }) => started.actor ?? null);
    expect(actors).toEqual([null, actor, actor, null, null]);
    expect(await expectReplay(place, act)).toEqual(result);
    await place.reopen();
    expect(await act(place.environment)).toEqual(result);
  });

  test("stops the run's clock while it decides", async () => {
    const { place } = await openGated(async () => {
      await delay(300);
      return { kind: 'allow', actor };
    });
    await using _place = place;
    const { budget } = await place.environment.step(write('one'));
    expect(budget.seconds_used).toBeLessThan(0.3);
  });

  test('is asked again after a kill only if it had not decided', async () => {
    const { place, proposals } = await openGated(() => ({ kind: 'deny', actor, reason: 'No.' }));
    await using _place = place;
    const result = await place.environment.step(write('one'));
    // Without the step itself, and then without the decision.
    for (const [kept, asked] of [
      [3, 1],
      [2, 2],
    ] as const) {
      await place.killed(kept);
      expect(await place.environment.step(write('one'))).toMatchObject({ observation: result.observation });
      expect(proposals).toHaveLength(asked);
    }
  });

  test('is asked on every branch', async () => {
    const { place, proposals } = await openGated(() => ({ kind: 'allow', actor }));
    await using _place = place;
    const branch = await place.environment.fork();
    await Promise.all([branch.step(write('one')), place.environment.step(write('two'))]);
    expect(new Set(proposals.map((proposed) => proposed.branch))).toEqual(new Set(['main', 'b1']));
  });
});

describe('a run whose session ends while it waits for its gate', () => {
  const longestGateWait = 20;
  const never: Gate = (_, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

  test('says what it waits for, keeps its steps, and continues with the decision in another session', async () => {
    let decided: GateDecision | null = null;
    const gate: Gate = (proposed, signal) =>
      decided ?? (proposed.step === 1 ? { kind: 'allow', actor: 'policy' } : never(proposed, signal));
    await using place = await WorkspacePlace.open({ change: () => ({ gate, longestGateWait }) });
    await place.environment.step(write('one'));
    await expect(place.environment.step(write('two'))).rejects.toThrow();
    const waits = place.environment.failure?.error;
    if (!(waits instanceof RunWaits)) throw new Error('the run waits');
    expect(waits.proposed).toMatchObject([{ branch: 'main', step: 2, ...write('two') }]);
    expect(kinds(place).slice(-2)).toEqual(['step_finished', 'action_proposed']);
    decided = { kind: 'allow', actor };
    await place.reopen();
    await place.environment.step(write('one'));
    expect(await place.environment.step(write('two'))).toMatchObject({ step: 2, status: 'ok' });
    expect(stepsOf(place.events)).toHaveLength(2);
  });

  test('continues as long as another branch is active, and then waits for all decisions together', async () => {
    let isFree = false;
    // Long enough for pauses of a busy machine between two steps.
    const patience = 1_000;
    const slow: Gate = async ({ branch, step }, signal) => {
      if (branch === 'b1' || step > 3) return await never({ branch, step, ...read }, signal);
      // All three together wait longer than a session does.
      await delay(patience / 2);
      isFree ||= step === 3;
      return { kind: 'allow', actor };
    };
    await using place = await WorkspacePlace.open({
      change: () => ({ gate: slow, longestGateWait: patience }),
    });
    const branch = await place.environment.fork();
    const waiting = branch.step(write('b1')).catch(() => {});
    for (const content of ['one', 'two', 'three']) await place.environment.step(write(content));
    await Promise.all([waiting, place.environment.step(write('four')).catch(() => {})]);
    expect(isFree).toBe(true);
    const waits = place.environment.failure?.error;
    if (!(waits instanceof RunWaits)) throw new Error('the run waits');
    expect(waits.proposed.map((one) => [one.branch, one.step]).toSorted()).toEqual([
      ['b1', 1],
      ['main', 4],
    ]);
  });
});
