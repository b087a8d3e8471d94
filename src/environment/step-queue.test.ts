import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { replayOf, WorkspacePlace } from '../../test/fixtures/workspace-place.ts';
import { ScriptedModels } from '../models/index.ts';
import type { ModelRequest } from '../schema/index.ts';
import type { Environment } from './environment.ts';
import { RunStopped } from './run-stopped.ts';

const asked = (text: string): ModelRequest => ({
  role: 'agent',
  purpose: 'act',
  messages: [{ role: 'user', text }],
});
const write = (content: string) => ({ name: 'Write File', args: { file_name: 'notes.txt', content } });

/** Does not wait for a result before it makes the next request. */
async function actAtOnce(environment: Environment) {
  const results = await Promise.all([
    environment.step(write('one')),
    environment.ask(asked('first')),
    environment.step(write('two')),
    environment.ask(asked('second')),
    environment.step(write('three')),
  ]);
  const last = await environment.step({ name: 'Read File', args: { file_name: 'notes.txt' } });
  return { results, last };
}

/** The first answer takes longer than the second. */
function models(): ScriptedModels {
  const scripted = new ScriptedModels(['one', 'two']);
  const answer = scripted.ask.bind(scripted);
  scripted.ask = async (request, options) => {
    await delay(scripted.requests.length === 0 ? 60 : 0);
    return answer(request, options);
  };
  return scripted;
}

describe('an agent that makes several requests at once', () => {
  test('gets the results one after another, and a resumed run and a replay do the same again', async () => {
    await using place = await WorkspacePlace.open({ models: models() });
    const { results, last } = await actAtOnce(place.environment);
    expect(results).toMatchObject([{ step: 1 }, { text: 'one' }, { step: 2 }, { text: 'two' }, { step: 3 }]);
    expect(last.observation).toContain('three');
    const kinds = place.events.map(({ kind }) => kind);
    expect(kinds).toEqual([
      ...['session_started', 'step_started', 'step_finished', 'model_call', 'step_started', 'step_finished'],
      ...['model_call', 'step_started', 'step_finished', 'step_started', 'step_finished'],
    ]);
    await place.reopen();
    expect(await actAtOnce(place.environment)).toEqual({ results, last });
    const replay = replayOf(place);
    expect(await actAtOnce(replay)).toEqual({ results, last });
    expect(replay.missing).toBeNull();
  });

  test('has its requests served until its run ends, and none after that', async () => {
    await using place = await WorkspacePlace.open();
    const steps = [place.environment.step(write('one')), place.environment.step(write('two'))];
    await place.environment.end({ reason: 'agent_stopped', message: 'It stopped.', finalAnswer: null });
    expect(await Promise.all(steps)).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
    expect(await place.environment.step(write('three'))).toMatchObject({ status: 'closed' });
    expect(place.environment.ending?.reason).toBe('agent_stopped');
  });

  test('and ignores the results does not end the process when the run is stopped', async () => {
    const stop = new AbortController();
    await using place = await WorkspacePlace.open({ signal: stop.signal });
    stop.abort();
    void place.environment.step(write('one'));
    await expect(place.environment.step(write('two'))).rejects.toBeInstanceOf(RunStopped);
  });
});

describe('an agent that catches errors of its environment', () => {
  test('is still found by a replay to differ from its trace', async () => {
    await using place = await WorkspacePlace.open({ models: models() });
    await place.environment.step(write('one'));
    const replay = replayOf(place);
    await replay.step(write('other')).catch(() => {});
    await expect(replay.step(write('one'))).rejects.toThrow('At step 1');
    expect(String(replay.failure?.error)).toContain('At step 1');
  });
});
