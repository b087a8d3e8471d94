import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeEnvironment } from '../../test/fakes/fake-environment.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { UserError } from '../lib/errors.ts';
import type { AgentOptions } from '../schema/index.ts';
import { type Agent, agentByName, agents, checkAgentOptions } from './index.ts';

function thrownBy(act: () => unknown): UserError {
  try {
    act();
  } catch (error) {
    if (UserError.isInstance(error)) return error;
    throw error;
  }
  return expect.fail('nothing was thrown');
}

async function run(
  agent: Agent,
  environment: FakeEnvironment,
  reference: Record<string, string> | null = null,
) {
  const files = reference === null ? null : new Map(Object.entries(reference));
  await agent.run({ environment, seed: 0, options: {}, reference: files });
  return environment.taken.map(({ name, args }) => [name, ...Object.values(args)]);
}

const script = { files: { 'train.py': 'old' }, execute: () => ({ output: '', exitCode: 0, seconds: 1 }) };

describe('the agents', () => {
  const names = agents.map(({ name }) => name);

  it('are found by name', () => {
    for (const agent of agents) expect(agentByName(agent.name)).toBe(agent);
    expect(names).toEqual(names.toSorted());
  });

  it('are listed if a name is unknown, the nearest first', () => {
    const error = thrownBy(() => agentByName('autml'));
    expect(error.message).toBe('There is no agent "autml".');
    const list = `The agents are: ${names.join(', ')}; a path such as ./my-agent.ts is one of your own`;
    expect(error.hint).toBe(`Did you mean "automl"? ${list}`);
    expect(thrownBy(() => agentByName('xyz')).hint).toBe(list);
  });

  it('are also searched as files of the folder if a name is unknown', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'climber.py'), '');
    const { hint } = thrownBy(() => agentByName('climber', folder));
    expect(hint).toMatch(/^Did you mean \.\/climber\.py\? The agents are: /);
  });

  it('refuse invalid values before anything is run', async () => {
    const refused = (name: string, options: AgentOptions) =>
      expect((async () => agentByName(name).ready?.(options))()).rejects.toMatchObject({
        name: 'UserError',
        code: 'wrong_agent_option',
      });
    await refused('automl', { max_tries: -1 });
    await refused('research', { profile: 'papr' });
    await refused('research', { profile: 'paper', turns: 0 });
    await refused('tools', { nudges: 1.5 });
    await refused('react', { actions: 'List Files, Exekute Script' });
    await refused('act', { hidden_actions: 'Fly' });
    await refused('autogpt', { summary_words: -1 });
    await refused('langchain', { steps_in_context: 0 });
    for (const agent of agents) await agent.ready?.({});
  });

  it('refuse options that they do not have, and values of another type', () => {
    checkAgentOptions(agentByName('automl'), { max_tries: 3 });
    expect(thrownBy(() => checkAgentOptions(agentByName('automl'), { max_tris: 3 })).hint).toMatch(
      /^Did you mean "max_tries"\?/,
    );
    expect(thrownBy(() => checkAgentOptions(agentByName('noop'), { toString: 1 })).hint).toBe(
      'noop has no options',
    );
    expect(thrownBy(() => checkAgentOptions(agentByName('automl'), { max_tries: 'much' })).message).toBe(
      'the option "max_tries" of the agent "automl" must be a number, not "much"',
    );
  });
});

describe('the validation agents', () => {
  it('noop only answers', async () => {
    expect(await run(agentByName('noop'), new FakeEnvironment(script))).toEqual([
      ['Final Answer', expect.any(String)],
    ]);
  });

  it('baseline runs the entry script as it is and answers', async () => {
    const environment = new FakeEnvironment(script);
    expect(await run(agentByName('baseline'), environment)).toEqual([
      ['Execute Script', 'train.py'],
      ['Final Answer', 'I ran train.py unchanged; it ended as "ok".'],
    ]);
    expect(environment.executed).toEqual(['old']);
  });

  it('oracle puts the reference over the workspace, runs it, checks it and answers', async () => {
    const environment = new FakeEnvironment(script);
    const taken = await run(agentByName('oracle'), environment, { 'train.py': 'new', 'b/model.py': 'more' });
    expect(taken).toEqual([
      ['Write File', 'b/model.py', 'more'],
      ['Write File', 'train.py', 'new'],
      ['Execute Script', 'train.py'],
      ['Validate Submission'],
      ['Final Answer', expect.stringContaining('ended as "ok"')],
    ]);
    expect(environment.executed).toEqual(['new']);
    await expect(run(agentByName('oracle'), new FakeEnvironment(script))).rejects.toThrow(/reference/);
  });
});
