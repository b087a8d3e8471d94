import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ExperimentFile } from '../schema/index.ts';
import { chosenAgents } from './agent-options.ts';

const place = {
  ...{ cache: '/nowhere', helpersFolder: '/nowhere', driver: 'none' as const, onProgress: () => {} },
  signal: new AbortController().signal,
};
const program = 'test/fixtures/outside/small_agent.py';
const chosen = (options: Record<string, string>) =>
  chosenAgents(
    ExperimentFile.parse({ tasks: ['digits'], agents: [{ name: 'command', options }] }),
    {},
    place,
  );

describe('a command in an experiment file', () => {
  test('sees the files that it names, as one of the command line does', async () => {
    const [agent] = await chosen({ command: `python ${program}`, label: 'mine' });
    expect(agent?.options).toEqual({
      command: `python ${program}`,
      label: 'mine',
      files: resolve(program),
    });
    const [other] = await chosen({ command: `python ${program}`, files: '' });
    expect(other?.options.files).toBe('');
  });

  test('is refused with a label that no run can be called by', async () => {
    const [agent] = await chosen({ command: 'true', label: 'My Agent' });
    expect(() => agent?.agent.ready?.(agent.options)).toThrow('the label "My Agent" of the command');
  });
});

test('an option that one of several agents lacks: says how to give it to one agent only', async () => {
  const wanted = ExperimentFile.parse({ tasks: ['digits'], agents: ['baseline', 'automl'] });
  await expect(chosenAgents(wanted, { agentOption: ['max_tries=2'] }, place)).rejects.toMatchObject({
    message: 'the agent "baseline" has no option "max_tries"',
    hint: 'baseline has no options. To give options to one agent only, use an experiment file: { name: automl, options: { max_tries: 2 } }',
  });
});
