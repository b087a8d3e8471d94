import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ExperimentFile } from '../schema/index.ts';
import { chosenAgents } from './agent-options.ts';

const place = {
  ...{ cache: '/nowhere', helpersFolder: '/nowhere', driver: 'none' as const, onProgress: () => {} },
  signal: new AbortController().signal,
};
const program = 'test/fixtures/outside/small_agent.py';
const chosen = (options: Record<string, string>, onProgress = (_: string) => {}) =>
  chosenAgents(
    ExperimentFile.parse({ tasks: ['digits'], agents: [{ name: 'command', options }] }),
    {},
    { ...place, onProgress },
  );

describe('a command in an experiment file', () => {
  test('sees the files that it names, like a command given on the command line', async () => {
    const [agent] = await chosen({ command: `python ${program}`, label: 'mine' });
    expect(agent?.options).toEqual({
      command: `python ${program}`,
      label: 'mine',
      files: resolve(program),
    });
  });

  test('sees the files and folders of its option files, too, relative to the current folder', async () => {
    const files = 'package.json, docs/images';
    const [agent] = await chosen({ command: `python ${program}`, files });
    const shown = [resolve(program), resolve('package.json'), resolve('docs/images')];
    expect(agent?.options.files).toBe(shown.join('\n'));
    const [folder] = await chosen({ command: `python ${program}`, files: 'test/fixtures/outside' });
    expect(folder?.options.files).toBe(resolve('test/fixtures/outside'));
    await expect(chosen({ command: 'true', files: 'missing.txt' })).rejects.toThrow(
      `option files names missing.txt, which is not in ${process.cwd()}`,
    );
  });

  test.each([
    ['ruby missing.rb', 'names missing.rb, and there is no such file'],
    ['no-such-program --now', 'starts no-such-program, which is in no folder of PATH'],
  ])('that can hardly work is planned with a warning: %s', async (command, warning) => {
    const lines: string[] = [];
    await chosen({ command }, (line) => lines.push(line));
    expect(lines.join('\n')).toContain(warning);
  });

  test.each([
    'python missing.py',
    'python -u missing.py --fast',
    './missing',
    'uv run missing.py',
    'X=1 node a/b.mjs',
  ])('is refused if its script is nowhere: %s', async (command) => {
    await expect(chosen({ command })).rejects.toMatchObject({
      code: 'no_file',
      message: expect.stringContaining(`neither in ${process.cwd()} nor among the starter files`),
      hint: expect.stringContaining('--agent-option files='),
    });
  });

  test.each([
    { command: 'python train.py' },
    { command: 'python outside/small_agent.py', files: 'test/fixtures/outside' },
    { command: 'true --out made.py' },
    { command: 'true -o made.py' },
  ])(
    'may name a starter file, a file in a given folder, and one that it writes: $command',
    async (options) => {
      const wanted = ExperimentFile.parse({ tasks: ['digits'], agents: [{ name: 'command', options }] });
      expect(await chosenAgents(wanted, {}, place, [resolve('tasks/digits/env')])).toHaveLength(1);
    },
  );

  test.each([`python ${program}`, 'python -m mine', 'X=1 y', 'cd a && ./b.sh', 'python -c "print(1.5)"'])(
    'without such a mistake has no warning: %s',
    async (command) => {
      const lines: string[] = [];
      await chosen({ command }, (line) => lines.push(line));
      expect(lines).toEqual([]);
    },
  );

  test.each(['command', 'acp'])(
    'is refused if it is missing or blank, before anything is run: %s',
    async (name) => {
      const agents = [name, { name, options: { label: 'mine' } }, { name, options: { command: ' ' } }];
      for (const agent of agents)
        await expect(
          chosenAgents(ExperimentFile.parse({ tasks: ['digits'], agents: [agent] }), {}, place),
        ).rejects.toMatchObject({
          name: 'UserError',
          code: 'bad_flag',
          message: `The agent ${name} has no command.`,
          hint: expect.stringContaining(`${name}:`),
        });
      const flags = { agentOption: ['command=true'] };
      const [given] = await chosenAgents(
        ExperimentFile.parse({ tasks: ['digits'], agents: [name] }),
        flags,
        place,
      );
      expect(given?.options.command).toBe('true');
    },
  );

  test('is refused with a label that cannot be part of a run name', async () => {
    const [agent] = await chosen({ command: 'true', label: 'My Agent' });
    expect(() => agent?.agent.ready?.(agent.options)).toThrow('the label "My Agent" of the command');
  });
});

test('an option that one of several agents lacks is refused with a hint how to give it to one agent only', async () => {
  const wanted = ExperimentFile.parse({ tasks: ['digits'], agents: ['baseline', 'automl'] });
  await expect(chosenAgents(wanted, { agentOption: ['max_tries=2'] }, place)).rejects.toMatchObject({
    message: 'the agent "baseline" has no option "max_tries"',
    hint: 'baseline has no options. To give options to one agent only, use an experiment file: { name: automl, options: { max_tries: 2 } }',
  });
});
