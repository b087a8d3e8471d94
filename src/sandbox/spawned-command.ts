import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { messageOf } from '../lib/errors.ts';
import { coverInherited } from './inherited-files.ts';
import type { OutputPipe, OutputPipes } from './output-pipe.ts';
import type { SandboxError, StartOptions } from './sandbox.ts';
import { waitForMarker } from './start-marker.ts';
import type { Begun, CommandInput, Exit } from './supervisor.ts';

/** A command that is a child of this process. */
export interface SpawnedCommand {
  /** The host process that lives as long as the command does. */
  spawn: {
    command: string[];
    environment: Record<string, string>;
    folder: string;
  };
  /** What it prints on standard error when the command's sandbox is ready. */
  marker: string;
  /** Called once, when the host process runs; resolves when its processes can be identified. */
  attach(child: ChildProcess): Promise<void>;
  destroy(): Promise<void>;
  /** The likely reason why it did not start, and what to do about it. */
  explain(message: string): SandboxError;
}

/** @throws SandboxError if it does not start; nothing of it lives then */
export async function spawnCommand(
  command: SpawnedCommand,
  pipes: OutputPipes,
  options: StartOptions,
): Promise<Begun> {
  const output = await pipes.open();
  const child = launch(command, output, options);
  const exited = exitOf(child);
  try {
    await Promise.all([command.attach(child), waitUntilReady(child, exited, command)]);
  } catch (error) {
    output.reader.resume();
    await command.destroy();
    child.kill('SIGKILL');
    output.reader.destroy();
    throw error;
  }
  const { stdin } = child;
  return { output: output.reader, input: stdin === null ? null : inputOf(stdin), exited };
}

function inputOf(stdin: Writable): CommandInput {
  return {
    get unreadBytes() {
      return stdin.writableLength;
    },
    write: (data) => void (stdin.writable && stdin.write(data)),
    end: () => void stdin.end(),
    discard: () => void stdin.destroy(),
  };
}

/** @throws SandboxError for what Node itself refuses; other errors show in the child's end */
function launch(command: SpawnedCommand, output: OutputPipe, options: StartOptions): ChildProcess {
  const [program = '', ...rest] = command.spawn.command;
  const input = options.stdin === 'pipe' ? 'pipe' : 'ignore';
  try {
    using covered = coverInherited([input, output.writeEnd, 'pipe']);
    const child = spawn(program, rest, {
      stdio: covered.stdio,
      env: command.spawn.environment,
      cwd: command.spawn.folder,
      detached: true,
    });
    // A program that does not read its input is not our error.
    child.stdin?.on('error', () => {});
    return child;
  } catch (error) {
    output.reader.destroy();
    throw command.explain(messageOf(error));
  } finally {
    output.closeWriteEnd();
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('exit', (code, signal) => resolve({ code, signal, error: null }));
  });
}

/** Resolves when the marker was read; text before it, or all text if it never comes, is from the driver. */
async function waitUntilReady(
  child: ChildProcess,
  exited: Promise<Exit>,
  command: SpawnedCommand,
): Promise<void> {
  if (child.stderr === null) throw command.explain('it has no standard error');
  const problem = await waitForMarker(child.stderr, command.marker);
  if (problem === null) return;
  if (problem !== '') throw command.explain(problem);
  const exit = await exited;
  const reason = exit.error === null ? '' : messageOf(exit.error);
  throw command.explain(reason === '' ? `it ended with ${exit.code ?? exit.signal} before it began` : reason);
}
