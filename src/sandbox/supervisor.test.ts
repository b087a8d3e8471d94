import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { OutputPipes } from './output-pipe.ts';
import { SandboxError } from './sandbox.ts';
import { type SpawnedCommand, spawnCommand } from './spawned-command.ts';
import { type CommandRun, supervise } from './supervisor.ts';

describe('the start of a command', () => {
  it('fails, and ends all processes, when they cannot be identified before its sandbox is ready', async () => {
    const pipes = new OutputPipes(temporaryFolder());
    const calls: string[] = [];
    const running: CommandRun & SpawnedCommand = {
      begin: (options) => spawnCommand(running, pipes, options),
      marker: 'stands',
      spawn: { command: ['/bin/sleep', '0.3'], environment: {}, folder: '/' },
      watch: { processes: () => [], folder: null, sums: null },
      attach: async () => {
        throw new Error('no process id');
      },
      terminate: () => {},
      destroy: async () => void calls.push('destroy'),
      usage: async () => null,
      translate: async (exitCode, signal) => ({ exitCode, signal }),
      release: async () => void calls.push('release'),
      explain: (message) => new SandboxError(message, 'nothing'),
    };
    const options = { stdin: 'none', onOutput: () => {}, timeoutMs: null, signal: null } as const;
    await expect(supervise(running, options)).rejects.toThrow('no process id');
    expect(calls).toEqual(['destroy', 'release']);
  });
});
