import { spawn } from 'node:child_process';

export interface ProcessResult {
  /** Null if a signal ended it. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** Standard output and standard error in the order received; the last 64 KiB. */
  output: string;
}

export interface ProcessOptions {
  workingDirectory?: string;
  /** All its environment variables: it inherits none. */
  variables: Record<string, string>;
  signal?: AbortSignal | null;
  /** An exception from it, such as ENOSPC while writing a log, ends the program. */
  onOutput?: (chunk: Buffer) => void;
}

const keptBytes = 64 * 1024;

/**
 * Runs a program of the host (never an agent's code) to its end.
 * @throws the signal's reason if aborted, once the whole process group is gone; any exception from `onOutput`; an error
 *   with a code such as ENOENT if the program can't be started.
 */
export async function runProcess(
  command: string,
  parameters: readonly string[],
  options: ProcessOptions,
): Promise<ProcessResult> {
  options.signal?.throwIfAborted();
  const child = spawn(command, parameters, {
    cwd: options.workingDirectory,
    env: options.variables,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its own process group, so that an abort also ends its children.
    detached: true,
  });
  let kept = Buffer.alloc(0);
  const stop = () => killGroup(child.pid);
  const failures: unknown[] = [];
  const collect = (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk]).subarray(-keptBytes);
    try {
      options.onOutput?.(chunk);
    } catch (error) {
      failures.push(error);
      stop();
    }
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  options.signal?.addEventListener('abort', stop, { once: true });
  try {
    const end = await new Promise<Omit<ProcessResult, 'output'>>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (exitCode, signal) => resolve({ exitCode, signal }));
    });
    options.signal?.throwIfAborted();
    if (failures.length > 0) throw failures[0];
    return { ...end, output: kept.toString('utf8') };
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** The last lines of a program's output, for an error message. */
export function tail(output: string, lines = 15): string {
  return output
    .trimEnd()
    .split(/\r?\n/)
    .slice(-lines)
    .map((line) => `  ${line.length > 300 ? `${line.slice(0, 300)}…` : line}`)
    .join('\n');
}
